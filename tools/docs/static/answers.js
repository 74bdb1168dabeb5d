// Opens the page of two operands, in either order; says so if there is none.
"use strict";
const pages = new Set([...document.querySelectorAll(".pages a")].map((link) => link.textContent));
document.getElementById("find").addEventListener("submit", (event) => {
  event.preventDefault();
  const operands = document.getElementById("operands").value.trim().split(/[\s,+]+/);
  const op = document.getElementById("op").value;
  const orders = [operands, [...operands].reverse()];
  const found = orders.find((order) => order.length === 2 && pages.has(order.join(" + ")));
  const none = document.getElementById("none");
  const number = found && !/^[a-z]/.test(found[1]);
  if (!found || (number && op !== "add")) {
    none.textContent = "No page of these. The command line answers any question: typelattice explain.";
    return;
  }
  const file = encodeURIComponent(found.join("+")) + ".html";
  location.href = op === "add" ? file : op + "/" + file;
});

// Pages that Sphinx does not make are as light or dark as the reader has chosen on those that it makes.
"use strict";
const NEXT = { auto: "light", light: "dark", dark: "auto" };
const chosen = () => {
  const theme = localStorage.getItem("theme");
  return theme in NEXT ? theme : "auto";
};
const apply = () => {
  const theme = chosen();
  document.documentElement.style.colorScheme = theme === "auto" ? "light dark" : theme;
  return theme;
};
apply();
document.addEventListener("DOMContentLoaded", () => {
  const button = document.createElement("button");
  const name = () => (button.textContent = `Theme: ${apply()}`);
  button.type = "button";
  button.id = "theme";
  button.addEventListener("click", () => {
    localStorage.setItem("theme", NEXT[chosen()]);
    name();
  });
  name();
  document.querySelector("header").append(button);
});

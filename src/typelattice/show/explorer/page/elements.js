// Elements of the page. All text goes in as text: nothing here reads markup.

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element with attributes and children; a child that is a string is text. */
function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** An SVG element, in the same way. */
function drawn(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  const there = children.flat().filter((child) => child !== null && child !== undefined);
  if (there.length) made.append(...there);
  return made;
}

/** A select with a label; choices are [value, text] pairs, or [heading, pairs] where text is a list. */
function choice(label, name, choices, chosen, change) {
  const option = ([value, text]) => element("option", { value, selected: value === chosen }, text);
  const options = choices.map(([value, text]) =>
    Array.isArray(text) ? element("optgroup", { label: value }, ...text.map(option)) : option([value, text]),
  );
  const select = element("select", { name, onchange: (event) => change(event.target.value) }, ...options);
  return element("label", {}, element("span", {}, label), select);
}

/** Says something to those who do not see the page change. */
function announce(text) {
  document.getElementById("status").textContent = text;
}

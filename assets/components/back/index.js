// Back and Forward show a page as it was: with its address, and as far scrolled, it and its tables. Kept per tab.
const KEPT = "passnet scrolled";
const MOST = 50; // addresses
const WITHIN_MS = 5000; // a page that takes longer to draw stays at its top
const EVERY_MS = 100;
const PARTS = '[data-testid="stMain"], .dvn-scroller';
const LEAVING_MS = 2000; // how long the parts of a page that goes away may scroll by themselves
const BY_HAND = ["wheel", "pointerdown", "keydown", "touchstart"];
const QUIET = { capture: true, passive: true };

const LINK_MS = 10000; // how long a click on a link to another page may take to change the address

let installed = false;
let timer;
let left = 0;
let leaving = 0;
let returned = 0;

export default function () {
  if (installed) return;
  installed = true;
  for (const sign of BY_HAND) document.addEventListener(sign, stop, QUIET);
  document.addEventListener("scroll", () => Date.now() - left > LEAVING_MS && keep(), QUIET);
  // these may lead away, and the address changes without a sign
  document.addEventListener("pointerdown", keep, QUIET);
  document.addEventListener("keydown", ({ key }) => key === "Enter" && keep(), QUIET);
  document.addEventListener("click", clicked, QUIET);
  window.addEventListener("popstate", restore);
  const push = history.pushState;
  history.pushState = function (state, title, url) {
    if (url == null || !needless(new URL(url, location.href))) push.call(this, state, title, url);
  };
}

/** Streamlit puts places into the history that nobody has gone to, from which Back would lead nowhere. */
function needless(to) {
  const here = to.pathname === location.pathname;
  // on the way to another page it first puts this one there, without its parameters
  if (here && Date.now() < leaving) return true;
  leaving = 0;
  // after Back, what the page before still polls for puts that page there again, and then this one
  return to.href === location.href || (!here && Date.now() < returned);
}

function clicked(event) {
  left = Date.now();
  returned = 0;
  const link = event.composedPath().find((each) => each instanceof HTMLAnchorElement);
  const elsewhere = event.button || event.ctrlKey || event.metaKey || event.shiftKey || link?.target === "_blank";
  const away = link?.origin === location.origin && link.pathname !== location.pathname;
  leaving = away && !elsewhere ? Date.now() + LINK_MS : 0;
}

const parts = () => [...document.querySelectorAll(PARTS)];

function read() {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT)) ?? {};
  } catch {
    return {};
  }
}

function keep() {
  if (timer) return;
  const { [location.href]: before, ...others } = read();
  const entries = [...Object.entries(others), [location.href, parts().map((each) => each.scrollTop)]];
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(Object.fromEntries(entries.slice(-MOST))));
  } catch {
    // without room, a page opens at its top
  }
}

/** Scrolls each part as soon as it is there and high enough, until the visitor scrolls. */
function restore() {
  stop();
  left = Date.now();
  returned = Date.now() + WITHIN_MS;
  const wanted = read()[location.href];
  if (!wanted?.some(Boolean)) return;
  const until = Date.now() + WITHIN_MS;
  timer = setInterval(() => {
    if (Date.now() > until) return stop();
    parts().forEach((part, index) => {
      const top = wanted[index] ?? 0;
      if (part.scrollTop !== top && part.scrollHeight - part.clientHeight >= top) part.scrollTop = top;
    });
  }, EVERY_MS);
}

function stop() {
  clearInterval(timer);
  timer = undefined;
}

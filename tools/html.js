// the search box, "show all code", and the way to a place that another page has; without it the pages read as they are
"use strict";
(function () {
  var entries = null, waiting = [];
  window.incipit_index = function (list) {
    entries = list.map(function (e) {
      return { page: e[0], number: e[1], name: e[2], group: e[3], prose: e[4], keys: e[5],
        low: [e[1] + " " + e[2], e[5], e[3], e[4]].map(function (s) { return s.toLowerCase(); }) };
    });
    waiting.forEach(function (f) { f(); });
  };
  function indexed(then) {                       // read when it is first asked for
    if (entries) return then();
    waiting.push(then);
    if (waiting.length > 1) return;
    var s = document.createElement("script");
    s.src = "index.js";
    document.head.appendChild(s);
  }
  function element(name, text, parent) {
    var e = document.createElement(name);
    if (text) e.textContent = text;
    if (parent) parent.appendChild(e);
    return e;
  }
  // all words must be there, in the name, the keys, the group or the prose; the earlier of these, the better
  function find(words) {
    var hits = [];
    entries.forEach(function (e, i) {
      var score = 0;
      for (var w = 0; w < words.length; w++) {
        var k = 0;
        while (k < 4 && e.low[k].indexOf(words[w]) < 0) k++;
        if (k === 4) return;
        score += k;
      }
      hits.push({ e: e, score: score, i: i });
    });
    return hits.sort(function (a, b) { return a.score - b.score || a.i - b.i; });
  }
  function marked(parent, text, words) {         // the words in bold, wherever they stand
    var low = text.toLowerCase(), at = 0;
    while (at < text.length) {
      var best = -1, length = 0;
      words.forEach(function (w) {
        var p = low.indexOf(w, at);
        if (p >= 0 && (best < 0 || p < best)) { best = p; length = w.length; }
      });
      if (best < 0) break;
      parent.appendChild(document.createTextNode(text.slice(at, best)));
      element("mark", text.slice(best, best + length), parent);
      at = best + length;
    }
    parent.appendChild(document.createTextNode(text.slice(at)));
  }
  function excerpt(e, words) {
    for (var w = 0; w < words.length; w++) {
      var key = e.keys.split(" ").filter(function (k) { return k && k.toLowerCase().indexOf(words[w]) >= 0; });
      if (key.length) return { text: key.slice(0, 6).join("  ") + (key.length > 6 ? "  …" : ""), key: key[0] };
    }
    for (w = 0; w < words.length; w++) {
      var p = e.low[3].indexOf(words[w]);
      if (p >= 0) return { text: (p > 70 ? "…" : "") + e.prose.slice(Math.max(0, p - 70), p + 130) + "…" };
    }
    return { text: e.prose.slice(0, 150) + (e.prose.length > 150 ? "…" : "") };
  }
  var box = document.getElementById("results"), tools = document.getElementById("tools");
  var input = element("input", "", tools);
  input.type = "search";
  input.placeholder = "Search names, prose, keys, files";
  input.setAttribute("aria-label", "Search the laboratory");
  function show() {
    var words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    box.hidden = words.length === 0;
    if (box.hidden) return;
    indexed(function () {
      var hits = find(words);
      box.textContent = "";
      element("p", hits.length === 0 ? "Nothing has all of these words." : hits.length + (hits.length === 1 ? " section" : " sections"), box);
      hits.slice(0, 60).forEach(function (h) {
        var e = h.e, x = excerpt(e, words), d = element("div", "", box), a = element("a", "", d);
        d.className = "hit";
        // a key leads to the line that prints it
        var key = x.key && /^[\w.-]+$/.test(x.key) && !/\.h$|\.c$/.test(x.key) ? (/\.csv$/.test(x.key) ? "csv-" : "key-") + x.key : e.number;
        a.href = e.page + "#" + key;
        element("span", e.number, a).className = "no";
        marked(element("span", "", a), e.name || e.group, words);
        marked(element("small", "", a), x.text, words);
      });
    });
  }
  input.addEventListener("input", show);
  input.addEventListener("focus", function () { indexed(function () {}); });
  document.addEventListener("keydown", function (e) {
    if (e.key === "Escape") { input.value = ""; show(); input.blur(); }
    else if (e.key === "/" && document.activeElement !== input) { e.preventDefault(); input.focus(); }
    else if (e.key === "Enter" && document.activeElement === input) { var a = box.querySelector(".hit a"); if (a) { location.href = a.href; reveal(); } }
    else if ((e.key === "ArrowDown" || e.key === "ArrowUp") && !box.hidden) {
      var list = Array.prototype.slice.call(box.querySelectorAll(".hit a")), at = list.indexOf(document.activeElement) + (e.key === "ArrowDown" ? 1 : -1);
      e.preventDefault();
      if (at < 0) input.focus(); else if (list[at]) list[at].focus();
    }
  });
  box.addEventListener("click", function (e) { if (e.target.closest("a")) box.hidden = true; });
  document.addEventListener("click", function (e) { if (!box.contains(e.target) && e.target !== input) box.hidden = true; });
  // folded code
  var folds = document.querySelectorAll("details.fold");
  if (folds.length) {
    var open = false, button = element("button", "show all code", tools);
    button.type = "button";
    button.addEventListener("click", function () {
      open = !open;
      folds.forEach(function (d) { d.open = open; });
      button.textContent = open ? "fold long code" : "show all code";
    });
  }
  // a place in folded code is unfolded; one that is on a page of a group of this web is looked for there
  function reveal() {
    var id = decodeURIComponent(location.hash.slice(1));
    if (!id) return;
    var there = document.getElementById(id);
    if (there) {
      for (var e = there, moved = false; e; e = e.parentElement) if (e.tagName === "DETAILS" && !e.open) { e.open = true; moved = true; }
      if (moved) there.scrollIntoView();
      return;
    }
    indexed(function () {
      var bare = id.replace(/^(key|csv)-/, "");
      entries.some(function (e) {
        if (e.number !== id && (" " + e.keys + " ").indexOf(" " + bare + " ") < 0) return false;
        if (e.page !== location.pathname.split("/").pop()) location.replace(e.page + "#" + id);
        return true;
      });
    });
  }
  window.addEventListener("hashchange", reveal);
  reveal();
})();

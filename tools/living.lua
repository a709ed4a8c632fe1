-- living.lua -- texlua living.lua INCIPIT WASM PAGE [FILE...]: one page of the files in living/, the engine, and the files that it reads.
-- A name between two signs @ stands for text: of a file, of this script, or, if it is a label of the book, for its number and title in
-- build/sections.tsv; an unknown one is an error. The figure of browsers that are too old is drawn of what the command prints.
local incipit, wasm, page = arg[1], arg[2], arg[3]
local function need(ok, why, ...) if not ok then io.stderr:write("living.lua: ", why:format(...), "\n") os.exit(1) end return ok end
local function read(name)
  local f = need(io.open(name, "rb"), "%s: cannot be read", name)
  local s = f:read("a")
  f:close()
  return s
end
local function said(command)
  local f = assert(io.popen(command, "r"))
  local s = f:read("a")
  need(f:close(), "failed: %s", command)
  return s
end
local function quoted(s) return "'" .. s:gsub("'", "'\\''") .. "'" end
local function escaped(s) return (s:gsub("[&<>\"]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" })) end

-- ---- what is packed: gzip without a date, so that the same files give the same page
local data = {}
local function pack(name, as) data[#data + 1] = ('<script type="text/plain" data-file="%s">%s</script>'):format(as, said("gzip -9n < " .. quoted(name) .. " | base64 | tr -d '\\n'")) end
pack(wasm, "living.wasm")
for i = 4, #arg do pack(arg[i], (arg[i]:gsub(".*/", ""))) end

-- ---- sections by their labels
local section = {}
for label, number, title in read("build/sections.tsv"):gmatch("(%S+)\t(%S+)\t([^\n]+)") do section[label] = ("Section %s: %s"):format(number, (title:gsub("%-%-", "–"))) end

-- ---- the recorded figure: eight steps with the cache, and what a head of the last step looks at
local PROMPT, STEPS, HEAD = "The cat sat", 8, "2.1"
local function recorded()
  local run = ("%s trace -p %s -n %d --cache --attention %s"):format(quoted(incipit), quoted(PROMPT), STEPS, HEAD)
  local text, json = said(run .. " --top 1"), said(run .. " --json")
  local piece, prompt = {}, need(text:match("prompt: ([^\n]+)"), "trace prints no prompt")
  for p in prompt:gmatch('"(.-)"') do piece[#piece + 1] = p end
  local read_ = #piece
  for p in text:gmatch('"([^\n"]-)"  <%-') do piece[#piece + 1] = p end
  need(#piece == read_ + STEPS, "trace prints %d tokens", #piece - read_)
  local look = {}
  for list in json:gmatch('"attention":%[(.-)%]') do
    look = {}
    for w in list:gmatch("[%d.e+-]+") do look[#look + 1] = tonumber(w) end
  end
  need(#look == #piece - 1, "trace prints a look at %d rows", #look)
  local out, W = {}, 78
  local function put(...) out[#out + 1] = (...):format(select(2, ...)) end
  local width, height = 40 + W * #piece, 300
  put('<svg viewBox="0 0 %d %d" role="img" aria-label="Blocks of %d tokens, six rows of the cache below each but the last, and arcs from the last row back to those it looks at.">', width, height, #piece)
  local function x(i) return 20 + W * (i - .5) end
  local q = #piece - 1
  for i, w in ipairs(look) do              -- itself, too
    local way = i == q and ("M%.1f 92C%.1f 66 %.1f 66 %.1f 92"):format(x(q) - 3, x(q) - 16, x(q) + 16, x(q) + 3)
      or ("M%.1f 92Q%.1f %.1f %.1f 92"):format(x(q), (x(q) + x(i)) / 2, 92 - 27 * (q - i) ^ .8, x(i))
    put('<path d="%s" fill="none" stroke="var(--query)" stroke-width="%.2f" stroke-opacity="%.3f"/>', way, 1 + 7 * w, math.min(1, .08 + 1.05 * w ^ .62))
  end
  for i, p in ipairs(piece) do
    put('<text x="%.1f" y="116" text-anchor="middle" style="font:15px var(--serif);fill:var(%s)">%s</text>', x(i), i <= read_ and "--faint" or "--ink", escaped((p:gsub("^ ", ""))))
    put('<rect x="%.1f" y="126" width="56" height="34" rx="2" style="fill:var(--rubric);fill-opacity:%s"/>', x(i) - 28, i <= read_ and ".48" or "1")
    for l = 1, 6 do
      local kind = i == #piece and "fill:none;stroke:var(--hair)" or i == q and "fill:var(--once)" or "fill:var(--cache)"
      put('<rect x="%.1f" y="%d" width="48" height="14" rx="1.5" style="%s"/>', x(i) - 24, 150 + 20 * l, kind)
    end
  end
  put("</svg>")
  local caption = ("Recorded with <code>%s</code>: %d steps after a prompt of %d tokens. Below each token stand its rows in the cache, one a layer: blue those that were kept, green the one that the last step computed; the token that it wrote has none yet. The arcs are the attention of head %d of layer %d in that step."):format(
    escaped(run:gsub("^'[^']*'", "incipit")), STEPS, read_, HEAD:match("%.(%d)") + 1, HEAD:match("%d") + 1)
  return table.concat(out, "\n"), caption
end

-- ---- the page
local with = { engine = read("living/engine.js"), style = read("living/style.css"), data = table.concat(data, "\n") }
with.recorded, with["recorded-caption"] = recorded()
with.script = read("living/scene.js") .. read("living/main.js") .. read("living/tree.js")
with.colophon = ("Made of the book’s own C, compiled to WebAssembly, and its built-in model; nothing is fetched. %s."):format(escaped(said(quoted(incipit) .. " --version"):match("[^\n]+")))
local function filled(text)
  return (text:gsub("@([%l][%w:-]*)@", function(name)
    if with[name] then return filled(with[name]) end
    return (need(section[name], "there is no section %s", name):gsub('["\\]', "\\%0"))
  end))
end
local text = filled(read("living/page.html"))
for name in text:gmatch("</script") do end
local f = need(io.open(page .. ".new", "wb"), "%s: cannot be written", page)
f:write(text)
f:close()
need(os.rename(page .. ".new", page), "%s: cannot be written", page)
need(#text <= 4500000, "%s has %d bytes; wanted: 4500000 or fewer", page, #text)
print(("%s: %d bytes"):format(page, #text))

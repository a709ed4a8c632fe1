#!/usr/bin/env python3
"""soak.py INCIPIT N [SECONDS] -- incipit serve under all faults at once, with the standard library alone.

Sixteen clients send N requests (or as many as go into SECONDS) to one server that has too little of everything: few slots, pages for less than its texts
need, a short queue, few connections.  Most of them ask for texts, and every text must be the one that incipit generate or chat has printed before; the
others do what clients do wrong (KINDS).  At the end nothing may be lost: the counters of the server add up to what was sent, nothing runs or waits or
holds a page, memory is what it was after a warm-up, nothing was written on standard error, and SIGTERM ends with 0.

Who is let in is known before anything is counted: each connection asks for /health first, and one that is turned away tries again."""
import collections, http.client, json, os, random, select, signal, socket, struct, subprocess, sys, tempfile, threading, time

INCIPIT, N = sys.argv[1], int(sys.argv[2])
SERVER = os.environ.get('SERVER', INCIPIT) # another build of the same program, as one under a sanitizer
SECONDS = float(sys.argv[3]) if len(sys.argv) > 3 else 3600.0
CLIENTS, SEED, BODY = 16, int(os.environ.get('INCIPIT_SEED', '1')), 65536
# the rows are for little more than one of the longest texts
OPTIONS = ['--slots', '6', '--kv-rows', '1024', '--batch-rows', '48', '--queue', '12', '--connections', '60', '--max-body', '64KiB', '--request-timeout', '2',
  '--idle-timeout', '30', '--send-timeout', '2']
TELL = 'Once upon a time there was a small fox who lived in the forest. Every day the fox went to the river. '

# ---- what generate and chat print
FLAGS = {'max_tokens': '-n', 'n': '--num-sequences'}
POOL = [
  {'prompt': 'Once upon a time', 'max_tokens': 60},
  {'prompt': 'The cat', 'max_tokens': 80, 'temperature': 1, 'seed': 7},
  {'prompt': 'A small', 'max_tokens': 70, 'temperature': 0.8, 'top_p': 0.9, 'top_k': 40, 'seed': 12345},
  {'prompt': 'Once', 'max_tokens': 40, 'temperature': 1, 'seed': 3, 'n': 3},
  {'prompt': 'The bear', 'max_tokens': 25, 'temperature': 1.2, 'seed': 9, 'n': 6},
  {'prompt': 'Once upon a time', 'max_tokens': 200, 'stop': [' kingdom, there', 'zzz']},
  {'prompt': 'The fox', 'max_tokens': 90, 'stop': ['.'], 'include_stop': True},
  {'prompt': 'Year: ', 'max_tokens': 10, 'regex': '[0-9]{3}'},
  {'prompt': 'Once', 'max_tokens': 60, 'response_format': {'type': 'json_object'}, 'temperature': 1, 'seed': 2},
  {'prompt': '', 'max_tokens': 30},
  {'prompt': [1155, 1156, 259, 831], 'max_tokens': 30, 'repetition_penalty': 1.3},
  {'prompt': 'The owl', 'max_tokens': 0},
  {'prompt': 'The king', 'max_tokens': 300, 'temperature': 1, 'seed': 11, 'min_tokens': 20},
  {'prompt': 'In the village', 'max_tokens': 150, 'ignore_eos': True, 'temperature': 1.3, 'seed': 5, 'logit_bias': {'261': -5}},
  {'prompt': TELL * 4, 'max_tokens': 40, 'temperature': 1, 'seed': 21},
  {'prompt': TELL * 4 + 'Then', 'max_tokens': 120, 'temperature': 1, 'seed': 22, 'frequency_penalty': 0.5},
  {'prompt': TELL * 2, 'max_tokens': 30, 'logprobs': 5},
  {'prompt': 'The queen', 'max_tokens': 20, 'logprobs': 0, 'temperature': 1, 'seed': 4, 'n': 2},
  {'prompt': 'Once upon a time there', 'max_tokens': 12, 'logprobs': 3, 'echo': True},
  {'prompt': 'The wolf', 'max_tokens': 16, 'echo': True, 'temperature': 0.7, 'seed': 8},
]
TALKS = [
  (['Where does the fox live?'], {}),
  (['Who are you?'], {'temperature': 1, 'seed': 3, 'max_tokens': 30}),
  (['Tell me about the king.'], {'temperature': 0.7, 'seed': 17, 'max_tokens': 50}),
]

def run(*args, given=''):
  p = subprocess.run([INCIPIT, *args], input=given.encode(), capture_output=True)
  if p.returncode != 0: sys.exit('soak: %s: %s' % (' '.join(args), p.stderr.decode()))
  return p.stdout.decode()

def line_of(d):
  line = []
  for key, value in d.items():
    if key in ('prompt', 'echo', 'response_format', 'logit_bias', 'stop'): continue
    name = FLAGS.get(key, '--' + key.replace('_', '-'))
    line += [name] if value is True else [name, str(value)]
  for s in d.get('stop', []): line += ['--stop', s]
  for i, b in d.get('logit_bias', {}).items(): line += ['--logit-bias', '%s=%s' % (i, b)]
  return line + ['--json-object'] * ('response_format' in d)

class Wish:
  """a body, and what must come: a list of (text, finish_reason, log-probabilities of its tokens or None)"""
  def __init__(self, path, body, wanted):
    self.path, self.body, self.wanted = path, body, wanted
    self.outcome = 'length' if any(w[1] == 'length' for w in wanted) else 'stop'

def ask_generate(d):
  p = d['prompt']
  prompt = ['--prompt-ids', ','.join(map(str, p))] if isinstance(p, list) else ['-p', p]
  all = json.loads(run('generate', '--json', '-q', '-c', '1024', *prompt, *line_of(d)))
  first = (p if d.get('echo') else '')
  numbers = []
  if d.get('echo') and 'logprobs' in d:
    numbers = json.loads(run('probe', 'logprob', given=json.dumps({'ids': all['prompt']['ids']}) + '\n'))['logprobs']
  wanted = [(first + s['text'], s['finish_reason'], numbers + [x['logprob'] for x in s['logprobs']] if 'logprobs' in d else None) for s in all['sequences']]
  return Wish('/v1/completions', d, wanted)

# a talk's oracle has no finish_reason: one that comes is believed
def ask_chat(said, d):
  answer = run('chat', '-q', *line_of(d), given=''.join(s + '\n' for s in said)).split('\n')[len(said) - 1]
  w = Wish('/v1/chat/completions', dict(d, messages=[{'role': 'user', 'content': s} for s in said]), [(answer, None, None)])
  w.outcome = None
  return w

# ---- the server
def serve():
  err = tempfile.TemporaryFile()
  p = subprocess.Popen([SERVER, 'serve', '--port', '0', *OPTIONS], stdout=subprocess.PIPE, stderr=err, stdin=subprocess.DEVNULL)
  line = p.stdout.readline().decode()
  if not line.startswith('listening on http://127.0.0.1:'): sys.exit('soak: no server: %r' % line)
  return p, err, int(line.rsplit(':', 1)[1])

class Wrong(Exception): pass
def must(ok, *words):
  if not ok: raise Wrong(' '.join(str(w)[:400] for w in words))

lock = threading.Lock()
sent, came, expected = collections.Counter(), collections.Counter(), collections.Counter()
wrong = []
def note(counter, *keys):
  with lock:
    for k in keys: counter[k] += 1

HEALTH = b'GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'
def read_head(s):
  got = b''
  while b'\r\n\r\n' not in got:
    part = s.recv(1)
    if part == b'': return got
    got += part
  return got

def connect(little=False):
  """a socket of somebody who has been let in"""
  for _ in range(4000):
    s = socket.socket()
    if little: s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    s.settimeout(300)
    try:
      s.connect(('127.0.0.1', PORT))
      s.sendall(HEALTH)
      head = read_head(s)
      if head.startswith(b'HTTP/1.1 200'):
        n = int(head.lower().split(b'content-length:')[1].split(b'\r\n')[0])
        while n > 0: n -= len(s.recv(n))
        return s
      must(head == b'' or head.startswith(b'HTTP/1.1 503'), 'turned away with', head)
    except OSError: pass
    s.close()
    note(came, 'turned away, and let in later')
    time.sleep(0.02)
  raise Wrong('nobody is let in any more')

def head_of(path, length, more=''):
  return ('POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n%s%s\r\n' % (path, more,
    '' if length is None else 'Content-Length: %d\r\n' % length)).encode()
def whole(path, body):
  body = body if isinstance(body, bytes) else json.dumps(body).encode()
  return head_of(path, len(body)) + body

class Reader:
  """answers on one connection, one after the other; slow: as somebody reads who is in no hurry"""
  def __init__(self, s, slow=0.0): self.s, self.slow, self.got = s, slow, b''
  def more(self):
    if self.slow: time.sleep(self.slow)
    part = self.s.recv(512 if self.slow else 65536)
    must(part != b'', 'the connection ended in the middle of an answer:', self.got[-200:])
    self.got += part
  def until(self, mark):
    while mark not in self.got: self.more()
    part, self.got = self.got.split(mark, 1)
    return part
  def take(self, n):
    while len(self.got) < n: self.more()
    part, self.got = self.got[:n], self.got[n:]
    return part
  def answer(self):
    head = self.until(b'\r\n\r\n').decode('latin-1')
    fields = {k.lower(): v.strip() for k, v in (l.split(':', 1) for l in head.split('\r\n')[1:])}
    if 'content-length' in fields: body = self.take(int(fields['content-length']))
    else:
      must(fields.get('transfer-encoding') == 'chunked', 'no length:', head)
      body = b''
      while (n := int(self.until(b'\r\n').split(b';')[0], 16)) > 0: body += self.take(n); self.take(2)
      self.take(2)
    return int(head.split()[1]), body

def check_error(status, body, code=None):
  e = json.loads(body)['error']
  must(set(e) == {'message', 'type', 'param', 'code'} and e['message'], 'an error without its four keys:', body)
  must(code is None or e['code'] == code, status, body, 'wanted:', code)

def put(reader, path, body):
  """sends until it is taken: a queue that is full is an answer, too"""
  while True:
    reader.s.sendall(whole(path, body))
    status, answer = reader.answer()
    if status != 429: return status, answer
    check_error(status, answer, 'queue_full')
    note(expected, 'refused'); note(came, '429, and taken later')
    time.sleep(0.05)

# ---- those who want a text
def same(w, texts, reasons, numbers):
  for i, (text, reason, logprobs) in enumerate(w.wanted):
    must(texts[i] == text, w.body, 'wrote', repr(texts[i]), 'wanted:', repr(text))
    must(reason is None or reasons[i] == reason, w.body, 'ended with', reasons[i], 'wanted:', reason)
    must(logprobs is None or numbers[i] == logprobs, w.body, 'has log-probabilities', numbers[i], 'wanted:', logprobs)
  note(expected, w.outcome or ('length' if 'length' in reasons else 'stop'))

def check_whole(w, status, body):
  must(status == 200, w.body, status, body)
  d = json.loads(body)
  chat = 'messages' in w.body
  same(w, [c['message']['content'] if chat else c['text'] for c in d['choices']], [c['finish_reason'] for c in d['choices']],
    [c['logprobs'] and c['logprobs'].get('token_logprobs') for c in d['choices']])

def check_stream(w, status, body):
  must(status == 200, w.body, status, body)
  events = [e[6:] for e in body.decode().split('\n\n') if e.startswith('data: ')]
  must(events[-1] == '[DONE]', 'no end:', events[-1])
  n = len(w.wanted)
  texts, reasons, numbers = [''] * n, [None] * n, [[] for _ in range(n)]
  for e in map(json.loads, events[:-1]):
    must('error' not in e, e)
    for c in e['choices']:
      i = c['index']
      texts[i] += c['delta'].get('content', '') if 'messages' in w.body else c['text']
      reasons[i] = c['finish_reason'] or reasons[i]
      numbers[i] += (c['logprobs'] or {}).get('token_logprobs', [])
  same(w, texts, reasons, numbers)

def ask_whole(r):
  w = r.choice(WISHES)
  with connect() as s: check_whole(w, *put(Reader(s), w.path, w.body))
def ask_stream(r, slow=0.0):
  w = r.choice(WISHES)
  with connect(slow > 0) as s: check_stream(w, *put(Reader(s, slow), w.path, dict(w.body, stream=True)))
def ask_slow(r): ask_stream(r, 0.003)
def ask_pipelined(r):
  """two requests at once on one connection; their answers come in order"""
  w = [r.choice(WISHES) for _ in range(2)]
  with connect() as s:
    reader = Reader(s)
    s.sendall(b''.join(whole(x.path, x.body) for x in w))
    for x, (status, body) in [(x, reader.answer()) for x in w]:
      if status == 429: note(expected, 'refused'); note(came, '429, and taken later'); status, body = put(reader, x.path, x.body)
      check_whole(x, status, body)
def ask_chunked(r):
  """the body in chunks of a few bytes"""
  w = r.choice(WISHES)
  body = json.dumps(w.body).encode()
  with connect() as s:
    s.sendall(head_of(w.path, None, 'Transfer-Encoding: chunked\r\n'))
    for i in range(0, len(body), 97): s.sendall(b'%x\r\n%s\r\n' % (len(body[i:i + 97]), body[i:i + 97]))
    s.sendall(b'0\r\n\r\n')
    reader = Reader(s)
    status, answer = reader.answer()
    if status == 429: note(expected, 'refused'); note(came, '429, and taken later'); status, answer = put(reader, w.path, w.body)
    check_whole(w, status, answer)

# ---- those who go
LONG = {'prompt': 'Once', 'max_tokens': 1000, 'ignore_eos': True, 'temperature': 1, 'n': 8}
def begin_long(little=False, **more):
  """the socket of a stream that has begun"""
  while True:
    s = connect(little)
    s.sendall(whole('/v1/completions', dict(LONG, stream=True, **more)))
    head = read_head(s)
    if head.startswith(b'HTTP/1.1 200'): return s
    must(head.startswith(b'HTTP/1.1 429'), 'a stream begins with', head)
    note(expected, 'refused'); note(came, '429, and taken later')
    s.close(); time.sleep(0.05)
def cut_stream(r):
  with begin_long() as s:
    for _ in range(r.randrange(6)): s.recv(400)
  note(expected, 'cancelled')
def cut_hard(r):
  """closed with a reset"""
  s = begin_long()
  s.recv(100)
  s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
  s.close()
  note(expected, 'cancelled')
def cut_half(r):
  """the sending side is closed: that counts as gone"""
  with begin_long() as s:
    s.shutdown(socket.SHUT_WR)
    while s.recv(65536) != b'': pass
  note(expected, 'cancelled')
def cut_whole(r):
  """goes before the first byte of an answer, perhaps while still in the queue"""
  with connect() as s:
    s.sendall(whole('/v1/completions', LONG))
    if select.select([s], [], [], r.choice((0.02, 0.1, 0.3)))[0]:
      must(s.recv(12) == b'HTTP/1.1 429', 'a long text came at once')
      note(expected, 'refused')
    else: note(expected, 'cancelled', 'blind')
def take_nothing(r):
  """reads a little and then nothing for longer than --send-timeout; what it finds later is what was on its way, and no end"""
  with begin_long(True, logprobs=20) as s:
    s.recv(2048)
    time.sleep(6)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    must(b'[DONE]' not in closes(s), 'who takes nothing is not dropped')
  note(expected, 'cancelled')

# ---- those who send what is none
def closes(s, seconds=30):
  """whatever comes until the other side closes"""
  got, until = b'', time.time() + seconds
  while time.time() < until:
    if not select.select([s], [], [], max(0, until - time.time()))[0]: break
    try: part = s.recv(65536)
    except OSError: return got
    if part == b'': return got
    got += part
  raise Wrong('the connection is still open after %g s: %r' % (seconds, got[:200]))
def refused(body, status, code, path='/v1/completions', head=None):
  with connect() as s:
    s.sendall((head or head_of(path, len(body))) + body)
    got = Reader(s).answer()
    must(got[0] == status, got, 'wanted:', status, code)
    check_error(*got, code)
  note(expected, 'refused')
def half_body(r):
  """half a body, and an end; one in four only stops, and is told that its time is over"""
  with connect() as s:
    s.sendall(head_of('/v1/completions', 500) + b'{"prompt":"On')
    if r.randrange(4) == 0: must(closes(s)[:12] in (b'', b'HTTP/1.1 408'), 'half a body is answered')
def bad_utf8(r):
  refused(b'{"prompt":"' + bytes([r.choice((0xff, 0xc0, 0xe2, 0xf8, 0x80))]) + b'","max_tokens":1}', 400, 'invalid_json')
def deep_json(r):
  n = r.choice((65, 100, 5000, 20000))
  refused(b'{"metadata":' + b'[' * n + b']' * n + b'}', 400, 'invalid_json')
def no_json(r):
  refused(r.choice((b'', b'{', b'[]', b'{"prompt":"a"}x', b'{"prompt":NaN}', b'{"prompt":"\\ud800"}', b'{"n":1,"n":1}', b'null')), 400, 'invalid_json')
def wrong_field(r):
  refused(json.dumps(r.choice((dict(n=0), dict(n='2'), dict(temperature=3), dict(stop=['']), dict(prompt=[]), dict(max_tokens=1.5), dict(logit_bias={'x': 1}),
    dict(prompt=[99999]), dict(nothing=1), dict(prompt=TELL * 60), dict(regex='(', max_tokens=4)))).encode(), 400, None)
def too_large(r):
  if r.randrange(2): refused(b'', 413, 'body_too_large', head=head_of('/v1/completions', BODY + 1))
  else: refused(b'%x\r\n' % (BODY + 1) + b' ' * (BODY + 1), 413, 'body_too_large', head=head_of('/v1/completions', None, 'Transfer-Encoding: chunked\r\n'))
def two_framings(r):
  refused(b'0\r\n\r\n', 400, 'bad_request', head=head_of('/v1/completions', 30, 'Transfer-Encoding: chunked\r\n'))
def foreign(r):
  refused(b'', 403, 'host_not_allowed', head=b'POST /v1/completions HTTP/1.1\r\nHost: evil.example\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n')
def random_bytes(r):
  with connect() as s:
    s.sendall(bytes(r.randrange(256) for _ in range(r.randrange(1, 3000))) + b'\r\n\r\n')
    try: s.shutdown(socket.SHUT_WR)
    except OSError: pass
    closes(s)
def changed_body(r):
  """some bytes of a good body are others: it is refused, or it is still one, with a text"""
  body = bytearray(json.dumps({'prompt': 'Once', 'max_tokens': 3, 'temperature': 1, 'seed': 5}).encode())
  for _ in range(r.randrange(1, 4)): body[r.randrange(len(body))] = r.choice((r.randrange(256), *b'"{}[],:0123456789'))
  with connect() as s:
    status, answer = put(Reader(s), '/v1/completions', bytes(body))
    if status == 200:
      reasons = [c['finish_reason'] for c in json.loads(answer)['choices']]
      note(expected, 'length' if 'length' in reasons else 'stop')
    else:
      must(400 <= status < 500, bytes(body), status, answer)
      check_error(status, answer)
      note(expected, 'refused')
def drip(r):
  """a byte now and then, longer than a request may take"""
  with connect() as s:
    try:
      for byte in head_of('/v1/completions', 30) * 3:
        s.sendall(bytes([byte])); time.sleep(0.04)
        if select.select([s], [], [], 0)[0]: break
    except OSError: pass
    must(closes(s, 10)[:12] in (b'', b'HTTP/1.1 408'), 'who drips is answered')
def crowd(r):
  """more connections than there may be; those who are let in say nothing and go"""
  all = []
  for _ in range(80):
    s = socket.socket()
    s.settimeout(10)
    try: s.connect(('127.0.0.1', PORT)); all.append(s)
    except OSError: s.close()
  time.sleep(0.1)
  told = 0
  for s in all:
    if not select.select([s], [], [], 0)[0]: continue
    try: told += s.recv(12) == b'HTTP/1.1 503'
    except OSError: pass
  for s in all: s.close()
  note(came, 'connections that were told that they are too many' if told else 'crowds of whom all were let in')
def look(r):
  """somebody who only looks"""
  with connect() as s:
    reader = Reader(s)
    for path in ('/metrics', '/v1/models', '/'):
      s.sendall(('GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n' % path).encode())
      must(reader.answer()[0] == 200, path)

# kinds, and how many of a thousand requests are of each; each comes once at least
KINDS = {ask_whole: 330, ask_stream: 260, ask_slow: 25, ask_pipelined: 40, ask_chunked: 40, cut_stream: 25, cut_hard: 15, cut_half: 10, cut_whole: 25,
  take_nothing: 2, half_body: 25, bad_utf8: 25, deep_json: 20, no_json: 25, wrong_field: 30, too_large: 15, two_framings: 10, foreign: 10, random_bytes: 25,
  changed_body: 25, drip: 4, crowd: 4, look: 10}

def client(todo):
  while True:
    with lock:
      if not todo or time.time() > DEADLINE or len(wrong) > 20: return
      kind, seed = todo.pop()
    try: kind(random.Random(seed))
    except Exception as e:
      with lock: wrong.append('%s: %s: %s' % (kind.__name__, type(e).__name__, e))
    note(sent, kind.__name__)

def metrics():
  with connect() as s:
    s.sendall(b'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n')
    text = Reader(s).answer()[1].decode()
  return {l.rsplit(' ', 1)[0]: float(l.rsplit(' ', 1)[1]) for l in text.split('\n') if l and l[0] != '#'}
def idle():
  """accounts, once all is quiet"""
  until = time.time() + 30
  while True:
    m = metrics()
    left = {k: m['incipit_' + k] for k in ('requests_running', 'requests_waiting', 'kv_pages_used')}
    left['connections'] = m['incipit_connections'] - 1
    if not any(left.values()): return m
    if time.time() > until: raise Wrong('left: %s' % left)
    time.sleep(0.05)

def hold(name, ok, words):
  if not ok: wrong.append('%s: %s' % (name, words))

def attack(n, seed):
  r = random.Random(seed)
  kinds = list(KINDS) + r.choices(list(KINDS), list(KINDS.values()), k=max(0, n - len(KINDS)))
  r.shuffle(kinds)
  todo = [(k, r.random()) for k in kinds]
  threads = [threading.Thread(target=client, args=(todo,)) for _ in range(CLIENTS)]
  for t in threads: t.start()
  for t in threads: t.join()

WISHES = [ask_generate(d) for d in POOL] + [ask_chat(*t) for t in TALKS]
process, err, PORT = serve()
began = time.time()
DEADLINE = began + SECONDS
try:
  start = idle()
  attack(N // 5, SEED)
  warm = idle()
  attack(N - N // 5, SEED + 1)
  end = idle()
  got = {o: int(end['incipit_requests_total{outcome="%s"}' % o]) for o in ('stop', 'length', 'cancelled', 'refused', 'error')}
  # one who goes without having seen anything may have been refused at the last moment
  blind = got['refused'] - expected['refused']
  if 0 < blind <= expected['blind']: expected['refused'] += blind; expected['cancelled'] -= blind
  hold('counters', all(got[o] == expected[o] for o in got), '%s; wanted: %s' % (got, dict(expected)))
  hold('pages', end['incipit_kv_pages'] == start['incipit_kv_pages'], '%g, %g' % (start['incipit_kv_pages'], end['incipit_kv_pages']))
  hold('preemptions', end['incipit_preemptions_total'] > 0 or sum(sent.values()) < 500, 'no text was ever preempted')
  rss = 'process_resident_memory_bytes'
  hold('memory', end[rss] <= 1.15 * warm[rss] + 2**24, '%.1f MB at the end, %.1f after the warm-up' % (end[rss] / 1e6, warm[rss] / 1e6))
except Exception as e:
  wrong.append('%s: %s' % (type(e).__name__, e)); got = warm = end = None
took = time.time() - began
process.send_signal(signal.SIGTERM)
try: status = process.wait(60)
except subprocess.TimeoutExpired: process.kill(); status = 'killed after a minute'
hold('status', status == 0, status)
err.seek(0)
said = err.read().decode('utf-8', 'replace')
hold('standard error', said == '', said[:1000])
hold('standard output', process.stdout.read() == b'', 'a second line')
for k in KINDS: print('%-16s %6d' % (k.__name__, sent[k.__name__]))
for k, n in sorted(came.items()): print('%s: %d' % (k, n))
if got: print('outcomes: %s' % ', '.join('%s %d' % x for x in got.items()))
if end: print('preempted: %d; memory: %.1f MB at first, %.1f after the warm-up, %.1f at the end' % (end['incipit_preemptions_total'], start[rss] / 1e6,
  warm[rss] / 1e6, end[rss] / 1e6))
for w in wrong[:20]: print('WRONG: ' + w)
print('%d requests in %.0f s: %s' % (sum(sent.values()), took, 'nothing lost, every text generate\'s' if not wrong else '%d WRONG' % len(wrong)))
sys.exit(bool(wrong))

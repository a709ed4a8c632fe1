#!/usr/bin/env python3
"""make.py -- what templates of our own print: cases.jsonl, by the library transformers 5.24 with jinja2 3.1.6 (pip install transformers==5.24.0).
A line is a question of probe template, with the answer: text, or error (true; or words that the sentence must have, as a line's number)."""
import json, os, sys
import transformers.utils.chat_template_utils as lib

TALK = [{"role": "system", "content": "Be <brief>."}, {"role": "user", "content": "  Où est le renard?  "}, {"role": "assistant", "content": "Là.\n", "thinking": "hm"}]
VARS = {"n": 7, "zero": 0, "x": 2.5, "yes": True, "no": False, "nil": None, "word": "Hello World", "empty": "", "xs": [3, 1, 2], "bare": [], "d": {"b": 2, "a": 1, "C": 3}, "h": "<a>&'\"", "u": "É😀ß", "rows": [{"k": "x", "v": 3, "on": True}, {"k": "y", "v": 1}, {"k": "Z", "v": 2, "on": None}], "names": ["Bea", "al", "Cy"], "deep": {"a": [1, {"b": "é"}]}, "pad": " \t pad \n"}
T = r"""
{{ 1 + 2 * 3 }} {{ (1 + 2) * 3 }} {{ 2 ** 3 ** 2 }} {{ -2 ** 2 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ 7 // -2 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ 7 / 2 }} {{ 2 ** -1 }}
{{ 7.5 // 2 }} {{ -7.5 % 2 }} {{ 7.5 % -2 }} {{ -0.5 // 1 }} {{ 1 - 2 - 3 }} {{ 8 / 4 / 2 }} {{ -n }} {{ +n }} {{ - -n }} {{ -x }}
{{ 'a' ~ 'b' + 'c' }} {{ 'a' ~ n ~ nil ~ yes ~ x ~ [1, 'q'] ~ gone }} {{ 3 * 'ab' }} {{ 'ab' * 2 }} {{ [1] * 2 + [2] }} {{ (1,) + (2, 3) }} {{ yes + yes }}
{{ 'a' ~ 1 + 2 }}
{{ 1 + 'a' }}
{{ 'a' + nil }}
{{ [1] + (2,) }}
{{ gone + 1 }}
{{ 9223372036854775807 }} {{ 9223372036854775806 + 1 }} {{ -9223372036854775807 - 1 }} {{ 3037000499 * 3037000499 }}
{{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ 3 > 2 >= 2 }} {{ 1 == 1.0 == yes }} {{ 'a' < 'b' }} {{ 'a' < 'aa' }} {{ [1, 2] < [1, 3] }} {{ 'é' > 'z' }} {{ 2 <= 1 }} {{ 1 != 2 }}
{{ 1 < 'a' }}
{{ nil < 1 }}
{{ {} < {} }}
{{ 'ell' in word }} {{ 'x' not in word }} {{ 1 in xs }} {{ 'a' in d }} {{ 5 in (2, 3) }} {{ '' in 'a' }} {{ 1.0 in [1] }} {{ gone in [1] }} {{ not 1 in [1] }}
{{ 1 in word }}
{{ 1 in n }}
{{ [] == [] }} {{ (1, 2) == [1, 2] }} {{ {'a': 1, 'b': 2} == {'b': 2, 'a': 1.0} }} {{ nil == no }} {{ gone == away }} {{ d == {'a': 1} }}
{{ yes and 'x' }} {{ no or 'y' }} {{ empty or nil }} {{ [] or {} or 0 }} {{ yes or boom.x }} {{ no and boom.x }} {{ not none }} {{ not not xs }}
{{ 'a' if no else 'b' if no else 'c' }} [{{ 'a' if no }}] {{ 1 if yes else 2 + 3 }} {{ 'x' + 'a' if no else 'b' }}
{{ 0.1 + 0.2 }} {{ 1.0 }} {{ 1e16 }} {{ 1e15 }} {{ 123456789.123 }} {{ 1e-5 }} {{ 0.0001 }} {{ 1.5e-7 }} {{ 1e22 }} {{ -0.0 }} {{ 1e308 * 10 }} {{ 100000.0 }} {{ 5e-324 }} {{ 12345678901234567.0 }}
{{ 0x1f }} {{ 0b101 }} {{ 0o17 }} {{ 1_000 }} {{ 1e3 }} {{ 1_0.2_5 }}
{{ [1, 'a', 2.5, true, none, [1], {'k': 'v'}, (1,), (), {}] }} {{ (1, 'a') }} {{ 1, 2 }}
{{ ['it\'s', "q\"q", 'both\'"', 'a\nb', 'back\\', 'é', '​', '\x00', '\x7f', '\xa0', '😀', '\t', '\U0001F600', '\101'] }}
{{ '\q' }}{{ '\/' }}{{ '\é' }}{{ 'a' 'b' "c" | upper }}{{ 'two
lines' }}
{{ {i: 1, 's': 2, 1: 3, true: 4} }} {{ {'a': 1, 'a': 2} }} {{ {1.0: 'x'}[1] }}
{{ {[1]: 2} }}
{{ word[0] }}{{ word[-1] }}{{ word[99] }}|{{ xs[9] }}|{{ n[0] }}|{{ nil.x }}|{{ d['a'] }}{{ d.a }}{{ d.zz }}|{{ xs[true] }}{{ users }}{{ rows.0.k }}{{ rows[-1]['k'] }}
{{ gone.x }}
{{ d.zz.y }}
{{ gone[0] }}
{{ xs[1:] }}{{ xs[:-1] }}{{ xs[::-1] }}{{ xs[::2] }}{{ xs[-9:9] }}{{ xs[2:1] }}{{ xs[none:2] }}{{ u[::-1] }}{{ u[1:] }}{{ word[::3] }}{{ word[-3:] }}{{ [1,2,3,4,5][-1:0:-2] }}{{ range(10)[2:8:2]|list }}{{ word[100:] }}
{{ xs[2:-9:-1] }}{{ word[-1:-99:-4] }}{{ xs[-99:2] }}{{ xs[99::-1] }}{{ xs[:-99:-1] }}
{{ xs[::0] }}
{{ xs['a':] }}
{{ nil[1:] }}
{{ d[1:] }}
{{ {'items': 1, 'x': 2}.items()|list }} {{ {'items': 1}['items'] }} {{ d['items']()|list }} {{ word['upper']() }} {{ d.items is defined }} {{ d.nope is defined }} {{ xs.append is defined }}|{{ word.__class__ }}|
{{ xs.append(4) }}
{{ d.update({}) }}
{{ n() }}
{{ gone() }}
{{ n.strip() }}
{{ pad.strip() }}|{{ pad.lstrip() }}|{{ pad.rstrip() }}|{{ 'xxaxx'.strip('x') }}|{{ 'abcab'.lstrip('ab') }}|{{ 'abcab'.rstrip('ab') }}|{{ '  x​'.strip()|length }}|{{ pad|trim }}|{{ 5|trim }}|{{ nil|trim }}|{{ xs|trim }}
{{ 'a b  c '.split() }}{{ 'a b  c '.split(' ') }}{{ 'a,b,c'.split(',', 1) }}{{ ''.split() }}{{ ''.split(',') }}{{ 'a b c '.split(maxsplit=1) }}{{ 'a,b,c'.rsplit(',', 1) }}{{ 'aXbX'.split('X', -1) }}{{ 'x</t>y</t>z'.split('</t>')[-1] }}
{{ 'abc'.split('') }}
{{ 'a\nb\r\nc\rd'.splitlines() }}{{ 'a\n'.splitlines() }}{{ 'a\nb'.splitlines(true) }}{{ 'a-b-c'.partition('-') }}{{ 'a-b-c'.rpartition('-') }}{{ 'abc'.partition('-') }}{{ 'abc'.rpartition('-') }}
{{ word.startswith('He') }}{{ word.endswith(('x', 'ld')) }}{{ word.startswith('e', 1) }}{{ word.startswith('', 99) }}{{ word.find('o') }}{{ word.rfind('o') }}{{ word.find('z') }}{{ word.find('o', 5) }}{{ word.count('l') }}{{ u.find('ß') }}{{ word.index('o') }}{{ 'abc'.removeprefix('a') }}{{ 'abc'.removesuffix('c') }}
{{ word.startswith(1) }}
{{ word.index('z') }}
{{ word.replace('l', 'L', 1) }}{{ 'aaa'.replace('aa', 'b') }}{{ 'ab'.replace('', '-') }}{{ word|replace('l', 'L') }}{{ n|replace('7', '8') }}{{ 'x'.ljust(3) }}|{{ 'x'.rjust(3, '.') }}|{{ 'ab'.center(5) }}|{{ 'abc'.center(6) }}|
{{ ','.join(['a', 'b']) }}{{ '-'.join('abc') }}{{ ', '.join(d) }}{{ xs|join(', ') }}{{ rows|join(',', attribute='k') }}{{ [1, nil, yes]|join(' ') }}{{ ''.join([]) }}
{{ ','.join([1]) }}
{{ word|upper }}{{ word|lower }}{{ "it's o'neil foo-bar (baz) x_y"|title }}{{ "it's o'neil 3rd".title() }}{{ 'hELLO wORLD'|capitalize }}{{ n|upper }}{{ nil|lower }}{{ 'ß'.upper() }}{{ u|upper }}{{ 'ΑΣ ΑΣΑ Σ'.lower() }}{{ 'İ'.lower()|length }}{{ 'ǆ'.title() }}{{ 'aB'.swapcase() }}{{ 'ﬁ'.capitalize() }}
{{ 'a1'.isalnum() }}{{ 'ab'.isalpha() }}{{ '12'.isdigit() }}{{ ' '.isspace() }}{{ 'AB'.isupper() }}{{ 'ab1'.islower() }}{{ ''.isalpha() }}
{{ xs|length }}{{ u|length }}{{ d|length }}{{ gone|length }}{{ xs|first }}{{ xs|last }}{{ bare|first }}|{{ d|last }}{{ word|last }}{{ word[:3]|list }}{{ d|list }}{{ range(1, 9, 3)|list }}{{ range(3) }}
{{ n|length }}
{{ nil|list }}
{{ xs|sort }}{{ names|sort }}{{ names|sort(case_sensitive=true) }}{{ xs|sort(reverse=true) }}{{ rows|sort(attribute='v')|map(attribute='k')|list }}{{ d|dictsort }}{{ d|dictsort(true) }}{{ d|dictsort(by='value', reverse=true) }}{{ [1, 2, 1, 'a', 'A']|unique|list }}{{ xs|min }}{{ names|max }}{{ xs|sum }}{{ xs|reverse|list }}{{ word|reverse }}
{{ [1, 'a']|sort }}
{{ ['b', 'a']|sort(attribute='v') }}{{ rows|sort(attribute='on,k')|map(attribute='k')|list if no }}{{ rows|sort(attribute='v,k')|map(attribute='k')|list }}{{ [{'p': {'q': 2}}, {'p': {'q': 1}}]|sort(attribute='p.q') }}{{ [{'a': nil}, {'a': nil}]|sort(attribute='a', reverse=true) }}{{ [[1, 'B'], [1, 'a'], [0, 'c']]|sort(attribute='0,1') }}{{ [[2], [1]]|sort(attribute=0) }}
{{ rows|sort(attribute='on') }}
{{ 'a\nb'.splitlines('') }}
{{ dict(gone) }}
{{ namespace(gone) }}
{{ dict(nil) }}
{{ range(5, 0, -2)[::-2] }}{{ range(5)[::100] }}{{ range(9)[7:1:-3] }}{{ range(9)[3:1] }}{{ range(2, 30, 7)[-2:] }}{{ range(3)[5:] }}{{ range(4)[::-1]|list }}{{ range(5)[::-100][0] }}
{{ names|map('upper')|list }}{{ rows|map(attribute='k')|join }}{{ rows|map(attribute='zz', default='-')|list }}{{ rows|selectattr('on')|map(attribute='k')|list }}{{ rows|rejectattr('on')|list|length }}{{ rows|selectattr('v', 'gt', 1)|map(attribute='k')|list }}{{ xs|select('odd')|list }}{{ xs|reject('odd')|list }}{{ nil|map('upper')|list }}{{ rows|selectattr('on', 'defined')|list|length }}{{ names|map('replace', 'e', 'E')|list }}{{ rows|selectattr('k', 'equalto', 'y')|first }}
{{ names|map('nope')|list }}
{{ names|map('nope') is defined }}{{ 'x' if rows|selectattr('zz.q') else 'y' }}
{{ rows|selectattr('zz.q')|list }}
{{ xs|map('abs')|length }}
{{ rows|selectattr('k')|last }}
{{ d|items|list }}{% for k, v in d|items %}{{ k }}{{ v }}{% endfor %}{{ gone|items|list }}
{{ xs|items|list }}
{{ gone|default('d') }}{{ nil|default('d') }}{{ empty|default('d') }}{{ empty|default('d', true) }}{{ 0|d('x', boolean=true) }}{{ gone|d }}|{{ '42'|int }}{{ '4.9'|int }}{{ 'x'|int(7) }}{{ 4.9|int }}{{ ' 1_0 '|int }}{{ nil|int }}{{ '1f'|int(0, 16) }}{{ '1e3'|int }}{{ '4.5'|float }}{{ 'x'|float }}{{ 3|float }}{{ -3|abs }}
{{ gone|int }}
{{ 'a\nb\n\nc'|indent }}|{{ 'a\nb'|indent(2, true) }}|{{ 'a\n\nb'|indent(1, blank=true) }}|{{ 'a\nb'|indent('>>') }}|{{ 'a\n'|indent }}|{{ '%s-%s'|format('a', 1) }}{{ '%(q)s'|format(q=5) }}{{ '%05.2f|%5s|%-5s|%x|%+d|%%' % (3.14159, 'a', 'b', 255, 3) }}{{ '{} {} {q}'.format('a', 2, q=3.5) }}{{ '{:>5}|{:.2f}|{!r}|{{}}|{1}{0}'.format('a', 3.14159, 'q') if no else '{1}{0}'.format('a', 'b') }}{{ '{:>5}|{:<3}|{:^5}|{:.2f}|{!r}|{{}}|{:05d}'.format('a', 'b', 'c', 3.14159, 'q', 42) }}
{{ '%d' % 'x' }}
{{ '%s %s' % 'x' }}
{{ '{} {1}'.format(1, 2) }}
{{ '%+d|% d|%+ d|% +d|%d|%-+5d|%+05d|%05d|%-05d|% 05d|%5d' % (-5, 5, 5, 5, -9223372036854775807 - 1, 3, 3, -3, 3, 3, -3) }}|{{ '%x|%X|%o|%x|%+x|%u|%i|%x' % (255, 255, 8, -255, 255, 7, 7, -9223372036854775807 - 1) }}|{{ '%d|%d|%i' % (2.9, -2.9, true) }}
{{ '%f|%.0f|%.1f|%+.2f|% .2f|%08.3f|%-8.2f|%F' % (2.5, 2.5, -0.04, 1.5, 1.5, -3.14159, -2.0, 1) }}|{{ '%e|%.3e|%g|%.0g|%.3g|%g|%+g' % (12345.678, 0.00012, 0.0001, 25.0, 1234.5, 1e20, 3) }}|{{ '%f|%+f|%.1f|%g|%e' % (-0.0, -0.0, -0.0, -0.0, -0.0) }}
{{ '%5s|%-5s|%.2s|%5.1s|%05s|%r|%6r|%s|%.1r|%.s' % ('é', '😀', 'É😀ß', 'abc', 'ab', 'q', 'q', none, 'q', 'abc') }}|{{ ('%1000d' % 1)|length }}|{{ '%s' % [1, 2] }}|{{ '%s' % {'a': 1} }}|{{ '%(a)s|%(b)05d' % {'a': 1, 'b': -2} }}
{{ '%x' % 2.5 }}
{{ '%s' % (1, 2) }}
{{ '%(a)s' % [1] }}
{{ '%(a)s' % {'b': 1} }}
{{ '%5' % 1 }}
{{ '%z' % 1 }}
{{ '{:+d}|{: d}|{:-d}|{:=+6d}|{:06d}|{:<6d}|{:^6d}|{:^7d}|{:*^6d}'.format(5, 5, 5, 5, -42, 42, 42, 42, 42) }}|{{ '{:>06d}|{:>06d}|{:<+06d}|{:*<+06d}|{:*>06d}|{:+06d}|{:=06d}|{: 06d}|{:05}'.format(42, -42, 42, 42, 42, 42, -42, 42, 'ab') }}|{{ '{:x}|{:X}|{:o}|{:+x}|{:08x}'.format(255, 255, 8, 255, -255) }}
{{ '{:+.2f}|{:08.2f}|{:e}|{:.3g}|{:.0f}|{:f}|{:F}|{:g}'.format(2.345, -2.345, 12345.678, 1234.5, 2.5, 3, -0.0, 1e20) }}|{{ '{:5}|{:5}|{:>5}|{:^6}|{:^5}|{:-^7s}|{:.2}|{:>4.1s}|{:s}'.format('é', 7, '😀', 'é', 'ab', 'ab', 'É😀ß', 'abc', 'x') }}|{{ '{:1000}'.format('a')|length }}
{{ '{!s:>5}|{!r:>5}|{!s}'.format('a', 'b', none) }}{{ '{0} {1} {0}{{{0}}}'.format(1, 2) }}{{ '{a}{b:3d}'.format(a=1, b=2) }}
{{ '{0} {}'.format(1, 2) }}
{{ '{a}'.format(b=1) }}
{{ '{2}'.format(1) }}
{{ '{'.format(1) }}
{{ '}'.format(1) }}
{{ '{:d}'.format('x') }}
{{ '{:s}'.format(1) }}
{{ '{:=5}'.format('a') }}
{{ '{:+}'.format('a') }}
{{ '1__0'|int }} {{ '_1'|int(5) }} {{ '1_'|int(5) }} {{ '0x1F'|int(base=16) }} {{ '-0x1f'|int(0, 16) }} {{ '0b101'|int(base=2) }} {{ '12'|int(9, base=2) }} {{ '0o17'|int(0, 8) }} {{ '8'|int(9, 8) }} {{ '9223372036854775807'|int }} {{ '-9223372036854775807'|int }} {{ '--7'|int(3) }} {{ '-'|int(2) }} {{ 'inf'|int(4) }} {{ '.5'|float }} {{ '1_0.5'|float }} {{ '0x10'|float(3) }} {{ -9223372036854775807|abs }}
{{ ['b', 'A', 'a', 'B']|min }}{{ ['b', 'A', 'a', 'B']|max }}{{ ['b', 'A', 'a', 'B']|min(case_sensitive=true) }}{{ [{'k': 1, 'v': 'y'}, {'k': 1, 'v': 'z'}]|min(attribute='k') }}{{ [{'k': 2, 'v': 'x'}, {'k': 2, 'v': 'y'}]|max(attribute='k') }}{{ [1, 2, 3]|sum(start=10) }}{{ [{'v': 2}, {'v': 3}]|sum('v', 5) }}{{ [[1], [2]]|sum(start=[]) }}
{{ range(7)|batch(3)|list }}{{ range(6)|batch(3)|list }}{{ range(7)|batch(3, 'x')|list }}{{ range(6)|batch(3, 'x')|list }}{{ []|batch(3, 'x')|list }}|{{ "it's o'neil's (big-dog) <x>"|title }}|{{ 'x'|center(4) }}|{{ 'ab'|center(5) }}|{{ 'é'|center(3) }}
{{ 2 < 2.5 }}{{ 2 == 2.5 }}{{ 2 == 2.0 }}{{ -3 < -2.5 }}{{ -3 > -3.5 }}{{ 9007199254740993 == 9007199254740992.0 }}{{ 9223372036854775807 < 9223372036854775808.0 }}{{ 1 < 1e300 }}{{ 1 > -1e300 }}|{{ [1, 2] < [1, 2, 3] }}{{ [1, 2, 3] > [1, 2] }}{{ [2] > [1, 5] }}|{{ range(1) == range(0, 1, 5) }}{{ range(0) == range(3, 3) }}{{ range(0, 4, 2) == range(0, 3, 2) }}{{ range(0, 4, 2) == range(0, 4, 3) }}
{% for i in range(9000) %}{{ 'x' if [i] > [i, 1] }}{% endfor %}{{ [[3], [1, 5], [1]]|sort }}{{ [(2, 'a'), (1, 'b')]|max }}
{% set ns = namespace(d={}) %}{% for i in range(70) %}{% set ns.d = dict(ns.d, **{'k' ~ i: i}) %}{% endfor %}{{ ns.d|length }} {% for i in range(70) %}{{ ns.d['k' ~ i] }},{% endfor %}{{ ns.d.k70 is defined }}
{{ h|safe + h }}|{{ h + h|safe }}|{{ h|safe ~ h }}|{{ h|e }}|{{ (h|e)|e }}|{{ [h|e] }}|{{ ('<'|safe).replace('<', '&') }}|{{ (h|safe)|upper }}|{{ (h|safe)[0] + '<' }}|{{ h|e is escaped }}
{{ h|tojson }}{{ u|tojson }}{{ u|tojson(ensure_ascii=true) }}{{ '\n\t\r\b\f\\"/\x00\x1f\x7f'|tojson }}{{ [1.0, 1e100, -0.0, nil, yes]|tojson }}{{ {1: 'a', none: 'b', true: 'c', 1.5: 'd'}|tojson }}{{ (1, 2)|tojson }}{{ d|tojson(sort_keys=true) }}{{ d|tojson(separators=(',', ':')) }}
{{ deep|tojson(indent=2) }}{{ deep|tojson(indent='\t') }}{{ [[], {}]|tojson(indent=2) }}{{ d|tojson(2) }}{{ d|tojson(indent=0) }}{{ d|tojson(indent=none) }}{{ d|tojson(separators=(',', ':'), indent=1) }}
{{ range(2)|tojson }}
{{ gone|tojson }}
{{ {(1, 2): 3}|tojson }}
{{ gone is defined }}{{ nil is none }}{{ yes is boolean }}{{ 1 is true }}{{ no is false }}{{ n is integer }}{{ yes is integer }}{{ x is float }}{{ yes is number }}{{ word is string }}{{ d is mapping }}{{ xs is iterable }}{{ n is iterable }}{{ d is sequence }}{{ d.items() is sequence }}{{ gone is sequence }}{{ 3 is odd }}{{ 6 is divisibleby 3 }}{{ 1 is in [1] }}{{ 'ab' is lower }}{{ d.get is callable }}{{ 1 is eq 1 }}{{ 2 is gt 1 }}{{ n is not none and n is number }}{{ nil is sameas none }}{{ xs is sameas xs }}{{ 1 + 1 is even }}
{{ word is odd }}
{{ 1 is nope }}
{% for c in xs %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.depth }}{{ loop.previtem }}<{{ c }}>{{ loop.nextitem }}{{ loop.cycle('a', 'b') }}{{ loop.changed(c > 1) }};{% endfor %}
{% for c in xs if c > 1 %}{{ c }}{{ loop.length }}{{ loop.last }}{% else %}no{% endfor %}{% for c in xs if c > 9 %}x{% else %}no{% endfor %}{% for c in bare %}x{% else %}empty{% endfor %}{% for c in gone %}x{% else %}gone{% endfor %}
{% for c in range(3) %}{% break %}{% else %}else{% endfor %}|{% for c in range(3) %}{% if c == 1 %}{% break %}{% endif %}{{ c }}{% else %}else{% endfor %}|{% for c in range(5) %}{% if c is odd %}{% continue %}{% endif %}{{ c }}{% endfor %}|{% for c in [1] %}{% continue %}{% else %}else{% endfor %}
{% for a, b in d.items() %}{{ a }}={{ b }},{% endfor %}{% for a, (b, c) in [[1, [2, 3]]] %}{{ a }}{{ b }}{{ c }}{% endfor %}{% for c in 'aé😀' %}[{{ c }}]{% endfor %}{% for c in 1, 2 %}{{ c }}{% endfor %}{% for a, b in ['xy'] %}{{ b }}{{ a }}{% endfor %}
{% for a, b in [[1, 2, 3]] %}{% endfor %}
{% for c in n %}{% endfor %}
{% for c in nil %}{% endfor %}
{% set y = 0 %}{% for c in xs %}{% set y = y + c %}{{ y }},{% endfor %}{{ y }}{% for c in xs %}{% set w = c %}{% endfor %}{{ w }}|{% if yes %}{% set z = 5 %}{% endif %}{{ z }}{% if no %}{% set n = 1 %}{% endif %}{{ n }}{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set t = 1, 2 %}{{ t }}
{% set ns = namespace(l=[], k=1) %}{% for c in xs %}{% set ns.l = ns.l + [c] %}{% set ns.k = ns.k * c %}{% endfor %}{{ ns.l }}{{ ns.k }}{{ ns.zz is defined }}{{ ns }}{{ dict([('a', 1)], b=2) }}
{% set d.z = 1 %}
{% set ns = namespace(_a=1) %}
{% set q %}block {{ n }}{% endset %}[{{ q }}]{% set q | upper %}a{% endset %}{{ q }}{% filter upper %}a{{ word }}{% endfilter %}{% with a = 1, b = 2 %}{{ a }}{{ b }}{% endwith %}{{ a is defined }}
{% macro f(a, b=2, c=a) %}{{ a }}-{{ b }}-{{ c }}{% endmacro %}{{ f(1) }} {{ f(1, 3) }} {{ f(b=4, a=5) }} {{ f(*[1, 2]) }} {{ f(**{'a': 6}) }} {{ f.name }}{{ f.arguments }}
{% macro f(a) %}{{ a is defined }}{{ n }}{% endmacro %}{{ f() }}{{ f(none) }}{% macro g() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ g(1, 2, q=4) }}
{% macro f(a) %}{% endmacro %}{{ f(1, 2) }}
{% macro f(a) %}{% endmacro %}{{ f(b=2) }}
{% macro f(a) %}{% endmacro %}{{ f(1, a=2) }}
{% macro f() %}{{ caller() }}!{% endmacro %}{% call f() %}hey{% endcall %}{% macro g() %}{{ caller(1, 2) }}{% endmacro %}{% call(a, b) g() %}{{ a }}+{{ b }}{% endcall %}
{% macro f() %}x{% endmacro %}{% call f() %}{% endcall %}
{% set s = 'x' %}{% macro m() %}{{ s }}{% endmacro %}{% set s = 'y' %}{{ m() }}{% for x in xs %}{% macro m2() %}{{ x }}{% endmacro %}{{ m2() }}{% endfor %}{% macro r(n) %}{{ n }}{% if n > 0 %}{{ r(n - 1) }}{% endif %}{% endmacro %}{{ r(3) }}{% macro o() %}{% set q9 = 1 %}{{ q9 }}{% endmacro %}{{ o() }}{{ q9 is defined }}
{% if no %}{% macro f() %}x{% endmacro %}{% endif %}{{ f() }}
{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}{% set q = 1 %}{% generation %}{% set q = 2 %}{{ q }}{% endgeneration %}{{ q }}
{% if no %}{{ raise_exception('boom') }}{% endif %}{% if no %}{{ n | nope }}{% endif %}{{ strftime_now('%d %b %Y, %H:%M:%S, %A %j %y %I %p %m %U %V %u %-d %e') if no }}fine
{{ raise_exception('Two ' ~ n ~ '\nlines') }}
{% if yes %}{{ n | nope }}{% endif %}
{{ range(100000)|length }}{{ range('a') }}
{{ loop }}|{{ caller is defined }}|{{ messages|length }}{{ tools }}{{ documents }}{{ add_generation_prompt }}
{{ messages }}
a\n{% if true %}\nb\n{% endif %}\nc\n
a\n   {% if true %}   \nb\n   {% endif %}\nc
a\n{% if true +%}\nb\n{% endif +%}\nc
  {%- if true -%}  x  {%- endif -%}  y
   {%+ if true %}x{% endif %}|a {{ 'x' }}\n\nb\n
x {% if true %}\ny{% endif %}\nz|  {{ 'v' }}\n  {{- 'w' }}\n {{ 'q' -}}\n z
a\n  {# c #}\n  b|a\n  {#- c -#}\n\n b|{#\n many #}\n\nx{# a #}  \nb
a\r\n{% if true %}\r\nb\r\n{% endif %}\rc\r\n
{% raw %}  {{ x }} {% if %}\n{% endraw %}\nz|  {% raw -%}  a  {%- endraw %}  b
 {% if true %}x{% endif %}|a\n  {% if true %}\nx{% endif %}
{{ {'a': {'b': 1}}}}{{ '}}' }}{{ "%}" }}}}%}{ { x } }{
{{ 1 + }}
l1\nl2\n{{ 1 + }}\nl4
{% if x %}
l1\n{% if x %}\nl3\n{% endfor %}
{%- if x -%}\n\n\n{{ 'a\nb' }}\n{% bad %}
{{ (1 }}
{{ [1) }}
{{ a ? b }}
{{ 'a }}
{% set 1 = x %}
{% set true = 1 %}
{% for x %}{% endfor %}
{% macro f(*a) %}{% endmacro %}
{% macro f(a=1, b) %}{% endmacro %}
{{ x y }}
{{ x. }}
{{ f(a=1, 2) }}
{{ namespace(a=1, {}) }}
{{ dict(a=1, a=2) }}
l1\nl2\n{% if x %}\nl4
{{ 1 is odd is even }}
{% if x = 1 %}{% endif %}
{{ [x for x in xs] }}
{{ 007 }}
{# open
{% raw %}open
{{ n | nope }}
{% break %}
{% for q in xs %}{% set loop = 1 %}{% endfor %}
{% for x in xs -%} {{ x }} {%- endfor %}{% print(1, 2) %}{%if true%}x{%endif%}
""".strip("\n")
T = T.replace("two\nlines' }}", "two\0lines' }}").split("\n")
TALKS = [
    {"messages": [{"role": "user", "content": None, "x": 1}]}, {"messages": [{"role": "assistant", "content": "x", "reasoning": "r"}]}, {"messages": [{"role": "assistant", "reasoning_content": "c", "content": "x", "thinking": "t"}]},
    {"messages": []}, {"messages": ["hi"]}, {"messages": [{"role": "user"}], "tools": [{"a": None}]}, {"messages": [{"role": "user"}], "tools": ["f"]}, {"messages": [{"role": "user"}], "documents": []}, {"messages": [{"role": "user"}], "documents": [3]}, {"messages": [{"role": "user"}], "add_generation_prompt": True}]
PLAIN = "{% for m in messages %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>\n{% endfor %}"
ON = [
    (PLAIN, [{"role": "user", "content": "x"}, {"role": "assistant", "content": " abc\n"}], True), (PLAIN.replace("m.content", "m.content|trim"), [{"role": "assistant", "content": " abc \n"}], True), (PLAIN, [{"role": "user", "content": "x"}], True),
    (PLAIN, [{"role": "user", "content": "x"}, {"role": "assistant"}], True), ("{{ messages|length }}", [{"role": "user", "content": "x"}], True), ("{% for m in messages[:-1] %}{{ m.content }}{% endfor %}", [{"role": "user", "content": "x"}, {"role": "user", "content": "y"}], True),
    ("{% for m in messages %}{% for p in m.content %}{{ p.text }}{% endfor %}#{% endfor %}", [{"role": "user", "content": [{"text": "one"}, {"text": "two "}, {"image": 1}]}], True), (PLAIN, [{"role": "user", "content": [{"image": 1}]}], True),
    ("{% for m in messages %}[{{ m.reasoning_content }}]{{ m.content }}{% endfor %}", [{"role": "assistant", "content": "x", "thinking": "think "}], "thinking"), (PLAIN, [{"role": "user", "content": "x"}], "name"), (PLAIN + "{{ messages[0].content|upper }}", [{"role": "user", "content": "a CONTINUE_FINAL_MESSAGE_TAG b"}], True)]

def ask(q):
    kw = {k: v for k, v in q.items() if k in ("tools", "documents", "add_generation_prompt", "continue_final_message")}
    try:
        if q.get("continue_final_message") and q.get("add_generation_prompt"): raise ValueError("both")
        talk = lib._normalize_chat_messages(q["messages"])
        if not talk: raise ValueError("an empty conversation")
        texts, spans = lib.render_jinja_template([talk], chat_template=q["template"], return_assistant_tokens_mask=bool(q.get("spans")), **kw, **q.get("kwargs", {}))
        return {"text": texts[0], **({"spans": spans[0]} if q.get("spans") else {})}
    except Exception as e:
        if type(e).__name__ == "TemplateSyntaxError" or type(e).__name__ == "TemplateAssertionError": return {"error": "line %d" % e.lineno}
        return {"error": "Two 7 lines" if "Two 7" in str(e) else True}
questions = []
for t in T:
    q = {"template": t.replace("\0", "\n"), "messages": TALK, "kwargs": VARS}
    if t.count("\\n") and "{{ '" not in t.split("\\n")[0] or t[:1] in "al x{" and "\\n" in t and "'" not in t: q["template"] = t.replace("\\r", "\r").replace("\\n", "\n")
    if "generation %}" in t: q["spans"] = True
    questions.append(q)
for c in TALKS: questions.append({"template": "{{ messages }}|{{ tools }}|{{ documents }}|{{ add_generation_prompt }}", **c})
for t, m, on in ON: questions.append({"template": t, "messages": m, "continue_final_message": on})
questions.append({"template": PLAIN, "messages": TALK, "continue_final_message": True, "add_generation_prompt": True})
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases.jsonl"), "w") as f:
    f.write(json.dumps({"kwargs": VARS, "messages": TALK}, ensure_ascii=False) + "\n")
    for q in questions:
        a = ask(q)
        if q.get("messages") is TALK: q = {k: v for k, v in q.items() if k not in ("messages", "kwargs")}
        f.write(json.dumps({**q, "answer": a}, ensure_ascii=False) + "\n")
print(len(questions), "cases,", sum("error" in ask(q) for q in questions), "of them errors")

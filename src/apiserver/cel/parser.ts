import { CelCompileError, type Issue } from './compile-error.js';
import { type Token, tokenize } from './lexer.js';
import { expandMacro } from './macros.js';
import { childrenOf, type Expr, type ListNode, type MapNode } from './syntax.js';
import { CelDouble, INT_MAX, INT_MIN, type Value } from './values.js';

/** Bound on the nesting of an expression, so that functions that walk it cannot exhaust the stack. */
const EXPRESSION_LEVELS_MAX = 250;
/** Bound on the depth of the tree, which chains such as `1 + 1 + 1` make deep without brackets. */
const TREE_LEVELS_MAX = 500;
/** Bound on the nodes of an expression: each costs memory for as long as the definition exists. */
const EXPRESSION_NODES_MAX = 20_000;

const RESERVED = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(' '),
);
const EXPECTED_OPERAND =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
const BINARY: readonly Readonly<Record<string, string>>[] = [
  { '<': '_<_', '<=': '_<=_', '>': '_>_', '>=': '_>=_', '==': '_==_', '!=': '_!=_', in: '@in' },
  { '+': '_+_', '-': '_-_' },
  { '*': '_*_', '/': '_/_', '%': '_%_' },
];

/** Parses an expression and expands its macros. Throws CelCompileError. */
export function parse(source: string): Expr {
  return new Parser(source).parse();
}

class Parser {
  readonly #issues: Issue[] = [];
  readonly #tokens: readonly Token[];
  #next = 0;
  #level = 0;
  #nodes = 0;

  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
    this.#tokens = tokenize(source, this.#issues);
  }

  parse(): Expr {
    const expr = this.#expression();
    const { kind, text, at } = this.#token;
    if (kind !== 'end') {
      // The reference parser calls a single surplus token extraneous, several mismatched.
      const word = this.#tokens[this.#next + 1]?.kind === 'end' ? 'extraneous' : 'mismatched';
      this.#fail(at, `Syntax error: ${word} input '${text}' expecting <EOF>`);
    }
    if (this.#issues.length > 0) throw new CelCompileError(this.#source, this.#issues);
    if (isDeep(expr)) this.#fail(0, `expression recursion limit exceeded: ${TREE_LEVELS_MAX}`);
    return expr;
  }

  #expression(): Expr {
    if (++this.#level > EXPRESSION_LEVELS_MAX) {
      this.#fail(this.#token.at, `expression recursion limit exceeded: ${EXPRESSION_LEVELS_MAX}`);
    }
    let expr = this.#disjunction();
    if (this.#isNext('?')) {
      const { at } = this.#take();
      const yes = this.#disjunction();
      this.#expect(':');
      expr = this.#call(at, '_?_:_', [expr, yes, this.#expression()]);
    }
    this.#level--;
    return expr;
  }

  #disjunction(): Expr {
    return this.#logical('||', '_||_', () => this.#logical('&&', '_&&_', () => this.#binary(0)));
  }

  #logical(operator: string, name: string, operand: () => Expr): Expr {
    const terms = [operand()];
    const places: number[] = [];
    while (this.#isNext(operator)) {
      places.push(this.#take().at);
      terms.push(operand());
    }
    return this.#balanced(name, terms, places, 0, terms.length - 1);
  }

  /** Makes a balanced tree of a chain of operators. */
  #balanced(name: string, terms: readonly Expr[], places: readonly number[], from: number, to: number): Expr {
    if (from === to) return terms[from]!;
    const middle = Math.floor((from + to - 1) / 2);
    const left = this.#balanced(name, terms, places, from, middle);
    const right = this.#balanced(name, terms, places, middle + 1, to);
    return this.#call(places[middle]!, name, [left, right]);
  }

  #binary(rank: number): Expr {
    const operators = BINARY[rank];
    if (operators === undefined) return this.#unary();
    let left = this.#binary(rank + 1);
    for (let count = 0; ; count++) {
      const { kind, text, at } = this.#token;
      const name = kind === 'op' || text === 'in' ? operators[text] : undefined;
      if (name === undefined || !Object.hasOwn(operators, text)) return left;
      if (count > EXPRESSION_LEVELS_MAX)
        this.#fail(at, `expression recursion limit exceeded: ${EXPRESSION_LEVELS_MAX}`);
      this.#take();
      left = this.#call(at, name, [left, this.#binary(rank + 1)]);
    }
  }

  #unary(): Expr {
    const { text, kind, at } = this.#token;
    if (kind !== 'op' || (text !== '!' && text !== '-')) return this.#member();
    let count = 0;
    while (this.#isNext(text)) {
      this.#take();
      count++;
    }
    // An even number of equal signs has no effect.
    const isLiteral = text === '-' && this.#token.kind === 'literal';
    if (isLiteral && count % 2 === 1) return this.#members(this.#negativeLiteral(at));
    const operand = this.#member();
    if (count % 2 === 0) return operand;
    return this.#call(at, text === '!' ? '!_' : '-_', [operand]);
  }

  #negativeLiteral(at: number): Expr {
    const { value } = this.#take();
    if (value instanceof CelDouble) return this.#literal(at, new CelDouble(-value.value));
    if (typeof value === 'number') return this.#literal(at, 0 - value);
    if (typeof value === 'bigint') return this.#literal(at, value === -INT_MIN ? INT_MIN : -value);
    return this.#call(at, '-_', [this.#literal(at, value!)]);
  }

  #member(): Expr {
    return this.#members(this.#primary());
  }

  #members(start: Expr): Expr {
    let expr = start;
    for (let count = 0; ; count++) {
      if (count > EXPRESSION_LEVELS_MAX) {
        this.#fail(this.#token.at, `expression recursion limit exceeded: ${EXPRESSION_LEVELS_MAX}`);
      }
      if (this.#isNext('.')) expr = this.#afterDot(expr);
      else if (this.#isNext('[')) expr = this.#index(expr);
      else return expr;
    }
  }

  #afterDot(operand: Expr): Expr {
    const { at } = this.#take();
    const isOptional = this.#takeOptional();
    const { kind, text, at: nameAt } = this.#token;
    if (kind !== 'ident' && kind !== 'quoted') {
      this.#fail(nameAt, `Syntax error: no viable alternative at input '.${kind === 'end' ? '' : text}'`);
    }
    if (kind === 'quoted') this.#fail(nameAt, "unsupported syntax: '`'");
    this.#take();
    if (kind === 'ident' && !isOptional && this.#isNext('(')) {
      const open = this.#take().at;
      const args = this.#list(')', () => this.#expression());
      return expandMacro(this.#source, open, text, operand, args) ?? this.#call(open, text, args, operand);
    }
    this.#count(at);
    return { kind: 'select', at, operand, field: text, isTest: false, isOptional };
  }

  #index(operand: Expr): Expr {
    const { at } = this.#take();
    const isOptional = this.#takeOptional();
    const index = this.#expression();
    this.#expect(']');
    return this.#call(at, isOptional ? '_[?_]' : '_[_]', [operand, index]);
  }

  #primary(): Expr {
    const token = this.#take();
    const { kind, text, at } = token;
    if (kind === 'literal') {
      if (typeof token.value === 'bigint' && token.value > INT_MAX) this.#fail(at, 'invalid int literal');
      return this.#literal(at, token.value!);
    }
    if (kind === 'keyword' && text !== 'in') return this.#literal(at, text === 'null' ? null : text === 'true');
    if (kind === 'ident') return this.#identOrCall(at, text);
    if (text === '.' && kind === 'op' && this.#token.kind === 'ident') {
      const name = this.#take();
      return this.#identOrCall(name.at, name.text);
    }
    if (kind === 'op' && text === '(') {
      const expr = this.#expression();
      this.#expect(')');
      return expr;
    }
    if (kind === 'op' && text === '[') return this.#listLiteral(at);
    if (kind === 'op' && text === '{') return this.#mapLiteral(at);
    const word = kind !== 'end' && startsOperand(this.#token) ? 'extraneous' : 'mismatched';
    return this.#fail(at, `Syntax error: ${word} input '${text}' expecting ${EXPECTED_OPERAND}`);
  }

  #identOrCall(at: number, name: string): Expr {
    if (RESERVED.has(name)) this.#fail(at, `reserved identifier: ${name}`);
    if (this.#isNext('(')) {
      const open = this.#take().at;
      const args = this.#list(')', () => this.#expression());
      return expandMacro(this.#source, open, name, undefined, args) ?? this.#call(open, name, args);
    }
    this.#count(at);
    if (this.#isNext('{')) return this.#structLiteral(name);
    return { kind: 'ident', at, name };
  }

  #structLiteral(name: string): Expr {
    const { at } = this.#take();
    this.#list('}', () => {
      this.#take();
      this.#expect(':');
      return this.#expression();
    });
    return { kind: 'struct', at, name };
  }

  #listLiteral(at: number): ListNode {
    this.#count(at);
    const items = this.#list(']', () => ({ isOptional: this.#takeOptional(), value: this.#expression() }));
    return { kind: 'list', at, items };
  }

  #mapLiteral(at: number): MapNode {
    this.#count(at);
    const entries = this.#list('}', () => {
      const isOptional = this.#takeOptional();
      const key = this.#expression();
      this.#expect(':');
      return { isOptional, key, value: this.#expression() };
    });
    return { kind: 'map', at, entries };
  }

  #takeOptional(): boolean {
    if (!this.#isNext('?')) return false;
    this.#take();
    return true;
  }

  /** A trailing comma is allowed in lists and maps, not in arguments. */
  #list<T>(close: string, item: () => T): T[] {
    const items: T[] = [];
    if (close !== ')' && this.#isNext(',')) this.#take();
    while (!this.#isNext(close)) {
      items.push(item());
      if (!this.#isNext(',')) break;
      this.#take();
      if (close === ')' && this.#isNext(close)) this.#expect('expression');
    }
    this.#expect(close);
    return items;
  }

  #call(at: number, name: string, args: readonly Expr[], target?: Expr): Expr {
    this.#count(at);
    return { kind: 'call', at, name, target, args };
  }

  #literal(at: number, value: Value): Expr {
    this.#count(at);
    return { kind: 'literal', at, value };
  }

  #count(at: number): void {
    if (++this.#nodes > EXPRESSION_NODES_MAX) this.#fail(at, `expression has more than ${EXPRESSION_NODES_MAX} nodes`);
  }

  get #token(): Token {
    return this.#tokens[this.#next]!;
  }

  #take(): Token {
    const token = this.#token;
    if (token.kind !== 'end') this.#next++;
    return token;
  }

  #isNext(text: string): boolean {
    return this.#token.kind === 'op' && this.#token.text === text;
  }

  #expect(text: string): void {
    if (!this.#isNext(text)) {
      const shown = this.#token.kind === 'end' ? '<EOF>' : this.#token.text;
      const isMissing = this.#token.kind === 'end' && text === ')';
      const wanted = text === ']' || text === '}' ? `{'${text}', ','}` : `'${text}'`;
      const message = isMissing ? `missing ')' at '<EOF>'` : `mismatched input '${shown}' expecting ${wanted}`;
      this.#fail(this.#token.at, `Syntax error: ${message}`);
    }
    this.#take();
  }

  #fail(at: number, message: string): never {
    throw new CelCompileError(this.#source, [...this.#issues, { at, message }]);
  }
}

function startsOperand({ kind, text }: Token): boolean {
  return kind === 'ident' || kind === 'literal' || (kind === 'keyword' && text !== 'in') || '[{(.-!'.includes(text);
}

function isDeep(root: Expr): boolean {
  let level: Expr[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > TREE_LEVELS_MAX) return true;
    level = level.flatMap(childrenOf);
  }
  return false;
}

import {
  checkKey,
  type LabelOperator,
  type LabelRequirement,
  requirement,
  SelectorError,
} from './label-selector-requirement.js';

type TokenKind = 'word' | 'keyword' | 'symbol' | 'end';

interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

const END: Token = { kind: 'end', text: '' };
const SYMBOLS: ReadonlySet<string> = new Set([')', ',', '!', '==', '=', '>', '<', '!=', '(']);
const BINARY: Readonly<Record<string, LabelOperator>> = {
  in: 'in',
  notin: 'notin',
  '=': '=',
  '==': '==',
  '!=': '!=',
  '>': 'gt',
  '<': 'lt',
};

/** Requirements in the order they are written. Messages are those of kube-apiserver, which clients show as they are. */
export function parseRequirements(text: string): LabelRequirement[] {
  const tokens = new Tokens(tokenize(text));
  const requirements: LabelRequirement[] = [];
  for (;;) {
    const first = tokens.peek();
    if (first.kind === 'end') return requirements;
    if (!startsRequirement(first)) throw found(first, ", expected: !, identifier, or 'end of string'");
    requirements.push(parseRequirement(tokens));
    const after = tokens.take();
    if (after.kind === 'end') return requirements;
    if (!isSymbol(after, ',')) throw found(after, ", expected: ',' or 'end of string'");
    if (!startsRequirement(tokens.peek())) throw found(tokens.peek(), ", expected: identifier after ','");
  }
}

function parseRequirement(tokens: Tokens): LabelRequirement {
  try {
    const negated = isSymbol(tokens.peek(), '!');
    if (negated) tokens.take();
    const key = tokens.take();
    if (!isWord(key)) throw found(key, ', expected: identifier');
    checkKey(key.text);
    if (negated) return requirement(key.text, '!', []);
    const next = tokens.peek();
    if (next.kind === 'end' || isSymbol(next, ',')) return requirement(key.text, 'exists', []);
    const operator = parseOperator(tokens.take());
    const values = operator === 'in' || operator === 'notin' ? parseValues(tokens) : [parseExactValue(tokens)];
    return requirement(key.text, operator, [...new Set(values)].sort());
  } catch (error) {
    if (error instanceof SelectorError) throw new SelectorError(`unable to parse requirement: ${error.message}`);
    throw error;
  }
}

function parseOperator(token: Token): LabelOperator {
  const operator = token.kind === 'word' || !Object.hasOwn(BINARY, token.text) ? undefined : BINARY[token.text];
  if (operator === undefined) throw found(token, ', expected: in, notin, =, ==, !=, gt, lt');
  return operator;
}

function parseValues(tokens: Tokens): string[] {
  const open = tokens.take();
  if (!isSymbol(open, '(')) throw found(open, " expected: '('");
  const first = tokens.peek();
  if (isSymbol(first, ')')) {
    tokens.take();
    return [''];
  }
  if (!isWord(first) && !isSymbol(first, ',')) throw found(first, ", expected: ',', ')' or identifier");
  return parseValueList(tokens);
}

/** Up to and with the closing parenthesis. A value may be left out on either side of a comma and is then empty. */
function parseValueList(tokens: Tokens): string[] {
  const values: string[] = [];
  for (;;) {
    const token = tokens.take();
    if (isWord(token)) {
      values.push(token.text);
      const next = tokens.peek();
      if (isSymbol(next, ')')) break;
      if (!isSymbol(next, ',')) throw found(next, ", expected: ',' or ')'");
    } else if (isSymbol(token, ',')) {
      if (values.length === 0) values.push('');
      const next = tokens.peek();
      if (isSymbol(next, ',') || isSymbol(next, ')')) values.push('');
      if (isSymbol(next, ')')) break;
    } else {
      throw found(token, ", expected: ',', or identifier");
    }
  }
  tokens.take();
  return values;
}

function parseExactValue(tokens: Tokens): string {
  const next = tokens.peek();
  if (next.kind === 'end' || isSymbol(next, ',')) return '';
  const token = tokens.take();
  if (!isWord(token)) throw found(token, ', expected: identifier');
  return token.text;
}

class Tokens {
  #position = 0;

  readonly #all: readonly Token[];

  constructor(all: readonly Token[]) {
    this.#all = all;
  }

  peek(): Token {
    return this.#all[this.#position] ?? END;
  }

  take(): Token {
    const token = this.peek();
    this.#position++;
    return token;
  }
}

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  // A symbol is read greedily (`==`), words end at a blank or symbol; a NUL ends the text as it does in Go's lexer.
  for (const [token] of text.split('\0', 1)[0]!.matchAll(/==|!=|[=!(),<>]|[^=!(),<> \t\r\n]+/g)) {
    if (SYMBOLS.has(token)) tokens.push({ kind: 'symbol', text: token });
    else tokens.push({ kind: token === 'in' || token === 'notin' ? 'keyword' : 'word', text: token });
  }
  return tokens;
}

/** `in` and `notin` are operators only where an operator may stand; elsewhere they are keys and values. */
function isWord(token: Token): boolean {
  return token.kind === 'word' || token.kind === 'keyword';
}

function isSymbol(token: Token, text: string): boolean {
  return token.kind === 'symbol' && token.text === text;
}

function startsRequirement(token: Token): boolean {
  return isWord(token) || isSymbol(token, '!');
}

function found({ text }: Token, expected: string): SelectorError {
  return new SelectorError(`found '${text}'${expected}`);
}

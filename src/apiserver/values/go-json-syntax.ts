/** Deeper nesting is refused by Go's decoder. */
const LEVELS_MAX = 10_000;

/**
 * What Go's JSON decoder says of a text that is no JSON; undefined for one that is. kube-apiserver passes its words on, and
 * people search for them.
 */
export function goJsonSyntaxError(text: string): string | undefined {
  return new Scanner(text).problem();
}

type Place = 'value' | 'first-item' | 'first-key' | 'key' | 'colon' | 'after-member' | 'after-item' | 'end';

class Scanner {
  #at = 0;
  readonly #levels: ('{' | '[')[] = [];

  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  problem(): string | undefined {
    let place: Place = 'value';
    for (;;) {
      this.#skipBlanks();
      const character = this.#text[this.#at];
      if (character === undefined) return place === 'end' ? undefined : END;
      const next: Place | Problem = this.#step(place, character);
      if (typeof next !== 'string') return next.text;
      place = next;
    }
  }

  #step(place: Place, character: string): Place | Problem {
    switch (place) {
      case 'value':
      case 'first-item':
        return place === 'first-item' && character === ']' ? this.#close() : this.#value(character);
      case 'first-key':
      case 'key':
        if (place === 'first-key' && character === '}') return this.#close();
        if (character !== '"') return this.#unexpected('looking for beginning of object key string');
        return this.#string() ?? 'colon';
      case 'colon':
        return character === ':' ? this.#take('value') : this.#unexpected('after object key');
      case 'after-member':
        if (character === ',') return this.#take('key');
        return character === '}' ? this.#close() : this.#unexpected('after object key:value pair');
      case 'after-item':
        if (character === ',') return this.#take('value');
        return character === ']' ? this.#close() : this.#unexpected('after array element');
      case 'end':
        return this.#unexpected('after top-level value');
    }
  }

  #value(character: string): Place | Problem {
    if (character === '{' || character === '[') {
      if (this.#levels.length >= LEVELS_MAX) return { text: 'exceeded max depth' };
      this.#levels.push(character);
      return this.#take(character === '{' ? 'first-key' : 'first-item');
    }
    if (character === '"') return this.#string() ?? this.#after();
    if (character === '-' || isDigit(character)) return this.#number() ?? this.#after();
    const word = ['true', 'false', 'null'].find((each) => each[0] === character);
    if (word === undefined) return this.#unexpected('looking for beginning of value');
    return this.#word(word) ?? this.#after();
  }

  #word(word: string): Problem | undefined {
    for (const expected of word) {
      const character = this.#text[this.#at];
      if (character === undefined) return { text: END };
      if (character !== expected) return this.#unexpected(`in literal ${word} (expecting '${expected}')`);
      this.#at++;
    }
    return undefined;
  }

  #string(): Problem | undefined {
    for (this.#at++; ; this.#at++) {
      const character = this.#text[this.#at];
      if (character === undefined) return { text: END };
      if (character === '"') {
        this.#at++;
        return undefined;
      }
      if (character < ' ') return this.#unexpected('in string literal');
      if (character !== '\\') continue;
      const escaped = this.#text[++this.#at];
      if (escaped === undefined) return { text: END };
      if (escaped === 'u') {
        const problem = this.#hexDigits();
        if (problem) return problem;
      } else if (!'bfnrt\\/"'.includes(escaped)) return this.#unexpected('in string escape code');
    }
  }

  #hexDigits(): Problem | undefined {
    for (let count = 0; count < 4; count++) {
      const character = this.#text[++this.#at];
      if (character === undefined) return { text: END };
      if (!/[0-9a-fA-F]/.test(character)) return this.#unexpected('in \\u hexadecimal character escape');
    }
    return undefined;
  }

  #number(): Problem | undefined {
    if (this.#text[this.#at] === '-') this.#at++;
    if (this.#text[this.#at] === '0') this.#at++;
    else {
      const problem = this.#digits('in numeric literal');
      if (problem) return problem;
    }
    if (this.#text[this.#at] === '.') {
      this.#at++;
      const problem = this.#digits('after decimal point in numeric literal');
      if (problem) return problem;
    }
    if (this.#text[this.#at] !== 'e' && this.#text[this.#at] !== 'E') return undefined;
    this.#at++;
    if (this.#text[this.#at] === '+' || this.#text[this.#at] === '-') this.#at++;
    return this.#digits('in exponent of numeric literal');
  }

  /** One or more. */
  #digits(where: string): Problem | undefined {
    const first = this.#text[this.#at];
    if (first === undefined) return { text: END };
    if (!isDigit(first)) return this.#unexpected(where);
    while (isDigit(this.#text[this.#at])) this.#at++;
    return undefined;
  }

  #close(): Place {
    this.#levels.pop();
    this.#at++;
    return this.#after();
  }

  #after(): Place {
    const level = this.#levels.at(-1);
    return level === undefined ? 'end' : level === '{' ? 'after-member' : 'after-item';
  }

  #take(next: Place): Place {
    this.#at++;
    return next;
  }

  #skipBlanks(): void {
    while (' \t\r\n'.includes(this.#text[this.#at] ?? '!')) this.#at++;
  }

  #unexpected(where: string): Problem {
    return { text: `invalid character ${quoted(this.#text[this.#at]!)} ${where}` };
  }
}

interface Problem {
  readonly text: string;
}

const END = 'unexpected end of JSON input';

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= '0' && character <= '9';
}

/** Byte by byte: of a character of several bytes only the first is told. */
function quoted(character: string): string {
  if (character === "'") return "'\\''";
  const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' };
  const code = Buffer.from(character)[0]!;
  if (escapes[character] !== undefined) return `'${escapes[character]}'`;
  if (code < 0x20 || code === 0x7f) return `'\\x${code.toString(16).padStart(2, '0')}'`;
  return code < 0x80 ? `'${character}'` : `'${String.fromCharCode(code)}'`;
}

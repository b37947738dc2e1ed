import { ImportError } from './problems.ts'

/** Values of type `int8` and decimals remain text. */
export type SqlValue = string | boolean | null

/** Reads a dump from start to end. It supports the syntax found in dumps of Postgres, MySQL and SQLite. */
export class SqlReader {
  readonly #text: string
  readonly #escapes: boolean
  #at = 0

  constructor(text: string) {
    this.#text = text
    // Only MySQL uses backslash escapes in plain strings.
    this.#escapes = /^-- (MySQL|MariaDB) dump|\) ENGINE=/im.test(text)
  }

  get ended(): boolean {
    return this.#at >= this.#text.length
  }

  error(message: string): ImportError {
    const line = this.#text.slice(0, this.#at).split('\n').length
    return new ImportError(`line ${line} of the dump: ${message}`)
  }

  /** Skips white space, empty statements, comments of all kinds and psql commands. */
  skipSpace(): void {
    for (;;) {
      const rest = /[\s;]*/y
      rest.lastIndex = this.#at
      rest.test(this.#text)
      this.#at = rest.lastIndex
      const two = this.#text.slice(this.#at, this.#at + 2)
      if (two === '--' || two[0] === '#' || two[0] === '\\') this.#at = this.#endOfLine()
      else if (two === '/*') {
        const end = this.#text.indexOf('*/', this.#at + 2)
        if (end === -1) throw this.error('a comment is not terminated')
        this.#at = end + 2
      } else return
    }
  }

  /** Consumes these words in this order. Consumes nothing if they do not come next. */
  takeWords(...words: readonly string[]): boolean {
    const start = this.#at
    for (const word of words) {
      this.#blanks()
      const found = this.#match(/[A-Za-z]+/y)
      if (found?.toUpperCase() === word) continue
      this.#at = start
      return false
    }
    return true
  }

  /** Reads the name of a table, without its schema. */
  tableName(): string {
    let name = this.#name()
    while (this.#take('.')) name = this.#name()
    return name
  }

  /** Reads `(a, b)`. Returns undefined if no list comes next. */
  nameList(): string[] | undefined {
    if (!this.#take('(')) return undefined
    const names = [this.#name()]
    while (this.#take(',')) names.push(this.#name())
    this.#expect(')')
    return names
  }

  /** Reads the columns of a CREATE TABLE. Undefined if it has none, as in a table created from a query. */
  columnsOfTable(): string[] | undefined {
    if (!this.#take('(')) return undefined
    const columns: string[] = []
    for (;;) {
      this.#blanks()
      const isQuoted = /["`[]/.test(this.#text[this.#at] ?? '')
      const name = this.#name()
      const others = this.#escapes ? constraintsOfMySql : constraints
      if (isQuoted || !others.has(name.toUpperCase())) columns.push(name)
      this.#skipTo([',', ')'])
      if (this.#take(',')) continue
      this.#expect(')')
      return columns
    }
  }

  /** Reads `(1, 'a'), (2, 'b')` and the end of the statement. */
  *rows(): Generator<SqlValue[]> {
    do {
      this.#expect('(')
      const values = [this.#value()]
      while (this.#take(',')) values.push(this.#value())
      this.#expect(')')
      yield values
    } while (this.#take(','))
    this.skipStatement()
  }

  /** Reads the lines after `COPY ... FROM stdin;`, up to the line `\.`. */
  *copyRows(): Generator<SqlValue[]> {
    this.#at = Math.min(this.#endOfLine() + 1, this.#text.length)
    for (;;) {
      if (this.ended) throw this.error('the rows of a COPY are not terminated')
      const end = this.#endOfLine()
      const line = this.#text.slice(this.#at, end).replace(/\r$/, '')
      this.#at = Math.min(end + 1, this.#text.length)
      if (line === '\\.') return
      yield line.split('\t').map((field) => (field === '\\N' ? null : unescaped(field)))
    }
  }

  /** Skips to just after the `;` that ends the statement. */
  skipStatement(): void {
    this.#skipTo([';'])
    // The last statement may have no `;`. At the end of the text, the pattern would start again at the
    // beginning.
    this.#at = Math.min(this.#at + 1, this.#text.length)
  }

  #skipTo(ends: readonly string[]): void {
    let depth = 0
    while (!this.ended) {
      const sign = this.#text[this.#at] ?? ''
      if (depth === 0 && ends.includes(sign)) return
      if (sign === "'" || sign === '"' || sign === '`') this.#quoted(sign, sign === "'" && this.#escapes)
      else if (this.#text.startsWith('--', this.#at)) this.#at = this.#endOfLine()
      else if (sign === '$' && /^\$\w*\$/.test(this.#text.slice(this.#at, this.#at + 64))) this.#dollars()
      else {
        if (sign === '(') depth++
        if (sign === ')') depth--
        this.#at++
      }
    }
    if (!ends.includes(';')) throw this.error('the dump ends in the middle of a statement')
  }

  /** Skips the body of a Postgres function: `$$ ... $$`. */
  #dollars(): void {
    const tag = this.#match(/\$\w*\$/y) ?? ''
    const end = this.#text.indexOf(tag, this.#at)
    if (end === -1) throw this.error(`a text that starts with ${tag} is not terminated`)
    this.#at = end + tag.length
  }

  #value(): SqlValue {
    this.#blanks()
    const sign = this.#text[this.#at]
    if (sign === "'") return this.#cast(this.#quoted("'", this.#escapes))
    const number = this.#match(/[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?/y)
    if (number !== undefined) return this.#cast(number)
    const word = this.#match(/[A-Za-z_]\w*/y)
    if (word === undefined) throw this.error('expected a value')
    if (this.#text[this.#at] === "'" && /^(E|X|B|_binary|_utf8mb4)$/i.test(word)) return this.#marked(word)
    switch (word.toLowerCase()) {
      case 'null':
        return this.#cast(null)
      case 'true':
        return true
      case 'false':
        return false
      case '_binary':
      case '_utf8mb4':
        return this.#value()
      default:
        return this.#call(word)
    }
  }

  #marked(mark: string): SqlValue {
    if (/^X$/i.test(mark)) return Buffer.from(this.#quoted("'", false), 'hex').toString('utf8')
    return this.#cast(this.#quoted("'", /^E$/i.test(mark) || this.#escapes))
  }

  /** The function calls that `.dump` of sqlite3 writes for texts with line breaks. */
  #call(name: string): SqlValue {
    if (!this.#take('(')) throw this.error(`unknown value ${JSON.stringify(name.slice(0, 40))}`)
    const args = [this.#value()]
    while (this.#take(',')) args.push(this.#value())
    this.#expect(')')
    const [first, from, to] = args.map((arg) => String(arg ?? ''))
    switch (name.toLowerCase()) {
      case 'char':
        return String.fromCodePoint(...args.map((arg) => Number(arg) & 0xffff))
      case 'replace':
        return (first ?? '').replaceAll(from ?? '', to ?? '')
      case 'unistr':
        return (first ?? '').replace(/\\(?:u([0-9A-Fa-f]{4})|\\)/g, (_, hex: string | undefined) =>
          hex === undefined ? '\\' : String.fromCharCode(Number.parseInt(hex, 16)),
        )
      default:
        throw this.error(`unknown function ${name.slice(0, 40)}`)
    }
  }

  /** Skips the cast of a value such as `'{}'::jsonb`, which stays text. */
  #cast(value: SqlValue): SqlValue {
    while (this.#text.startsWith('::', this.#at)) {
      this.#at += 2
      this.#match(/[A-Za-z_][\w ]*(\([\d, ]+\))?(\[\])?/y)
    }
    return value
  }

  #quoted(quote: string, escapes: boolean): string {
    const start = this.#at
    this.#at++
    let text = ''
    for (;;) {
      const plain = escapes ? this.#until(quote, '\\') : this.#until(quote)
      text += plain
      if (this.ended) {
        this.#at = start
        throw this.error(`a text that starts with ${quote} is not terminated`)
      }
      const sign = this.#text[this.#at]
      if (sign === '\\') {
        text += escapeOf(this.#text[this.#at + 1] ?? '')
        this.#at += 2
      } else if (this.#text[this.#at + 1] === quote) {
        text += quote
        this.#at += 2
      } else {
        this.#at++
        return text
      }
    }
  }

  /** Reads the text up to the first of these characters, or to the end. */
  #until(...signs: readonly string[]): string {
    const start = this.#at
    while (this.#at < this.#text.length && !signs.includes(this.#text[this.#at] ?? '')) this.#at++
    return this.#text.slice(start, this.#at)
  }

  #name(): string {
    this.#blanks()
    const sign = this.#text[this.#at]
    if (sign === '"' || sign === '`') return this.#quoted(sign, false)
    const name = this.#match(/[A-Za-z_][\w$]*/y)
    if (name === undefined) throw this.error('expected a name')
    return name
  }

  #take(sign: string): boolean {
    this.#blanks()
    if (this.#text[this.#at] !== sign) return false
    this.#at++
    return true
  }

  #expect(sign: string): void {
    if (!this.#take(sign)) throw this.error(`expected "${sign}"`)
  }

  #blanks(): void {
    this.#match(/\s*/y)
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)
    if (found === null) return undefined
    this.#at = pattern.lastIndex
    return found[0]
  }

  #endOfLine(): number {
    const end = this.#text.indexOf('\n', this.#at)
    return end === -1 ? this.#text.length : end
  }
}

/** The first words of lines in a CREATE TABLE that do not define a column. */
const constraints = new Set(['PRIMARY', 'UNIQUE', 'CONSTRAINT', 'FOREIGN', 'CHECK', 'EXCLUDE'])
/** In MySQL, these as well. In Postgres, a column may have such a name. */
const constraintsOfMySql = new Set([...constraints, 'KEY', 'INDEX', 'FULLTEXT', 'SPATIAL'])

function escapeOf(letter: string): string {
  const known: Record<string, string> = {
    n: '\n',
    r: '\r',
    t: '\t',
    b: '\b',
    f: '\f',
    v: '\v',
    '0': '\0',
    Z: '\x1a',
  }
  return known[letter] ?? letter
}

function unescaped(field: string): string {
  return field.replace(/\\(.)/g, (_, letter: string) => escapeOf(letter))
}

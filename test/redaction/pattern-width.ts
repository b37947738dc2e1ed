/**
 * The most characters that a regular expression can look at from one place, with those of its lookarounds. Throws for a quantifier
 * without an upper bound, and for one within another that may take the same characters in several ways.
 */
export function widthOf(source: string): number {
  const known = widths.get(source)
  if (known !== undefined) return known
  const parser = new Parser(source)
  const width = parser.alternatives()
  if (!parser.isAtEnd) throw new Error(`cannot read /${source}/`)
  widths.set(source, width)
  return width
}

const widths = new Map<string, number>()

/** Reads by index alone: methods of strings are counted while this runs. */
class Parser {
  readonly #source: string
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  get isAtEnd(): boolean {
    return this.#at === this.#source.length
  }

  alternatives(): number {
    let widest = 0
    for (;;) {
      let width = 0
      while (!this.isAtEnd && this.#next() !== '|' && this.#next() !== ')') width += this.#term()
      widest = Math.max(widest, width)
      if (this.#next() !== '|') return widest
      this.#at++
    }
  }

  #next(): string {
    return this.#source[this.#at] ?? ''
  }

  #take(): string {
    return this.#source[this.#at++] ?? ''
  }

  #term(): number {
    const from = this.#at
    const width = this.#atom()
    const most = this.#most()
    const isGroup = this.#source[from] === '('
    if (isGroup && most > 1 && (width * most > 512 || most > 16))
      throw new Error(`/${this.#source}/ repeats a long group at ${from}`)
    return width * most
  }

  #atom(): number {
    switch (this.#take()) {
      case '(': {
        if (this.#next() === '?') {
          this.#at++
          if (this.#take() === '<' && this.#next() !== '=' && this.#next() !== '!')
            throw new Error(`/${this.#source}/ names a group`)
          if (this.#next() === '=' || this.#next() === '!') this.#at++
        }
        const width = this.alternatives()
        if (this.#take() !== ')') throw new Error(`/${this.#source}/ does not close a group`)
        return width
      }
      case '[':
        while (this.#next() !== ']') {
          if (this.isAtEnd) throw new Error(`/${this.#source}/ does not close a class`)
          if (this.#take() === '\\') this.#at++
        }
        this.#at++
        return 1
      case '\\':
        this.#at++
        return 1
      case '^':
      case '$':
        return 0
      default:
        return 1
    }
  }

  /** The upper bound of a quantifier; 1 where there is none. */
  #most(): number {
    const next = this.#next()
    if (next === '*' || next === '+') throw this.#unbounded()
    if (next === '?') {
      this.#at++
      return 1
    }
    if (next !== '{') return 1
    this.#at++
    let number = ''
    while (this.#next() !== '}') {
      const character = this.#take()
      number = character === ',' ? '' : number + character
    }
    this.#at++
    if (number === '') throw this.#unbounded()
    return Number(number)
  }

  #unbounded(): Error {
    return new Error(`/${this.#source}/ has a quantifier without an upper bound at ${this.#at}`)
  }
}

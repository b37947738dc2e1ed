/** Finds the end of a JSON object that comes in pieces. It does not check the grammar. */
export class JsonEnd {
  #depth = 0
  #isInString = false
  #isEscaped = false
  #isWhole = false

  /** True once the object's last brace has come. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  push(text: string): void {
    for (let at = 0; at < text.length && !this.#isWhole; at++) this.#take(text.charCodeAt(at))
  }

  #take(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (this.#isInString) {
      if (code === backslash) this.#isEscaped = true
      else if (code === quote) this.#isInString = false
    } else if (code === quote) this.#isInString = true
    else if (code === openBrace || code === openBracket) this.#depth++
    else if (code === closeBrace || code === closeBracket) {
      this.#depth--
      this.#isWhole = this.#depth === 0
    }
  }
}

const quote = 0x22
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

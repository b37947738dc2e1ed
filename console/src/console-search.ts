/** The parameters of an address: a text for each name, or several. */
export type Texts = Record<string, string | string[]>

/** `?status=500&model=a&model=b` -> `{ status: '500', model: ['a', 'b'] }`. */
export function parseSearch(search: string): Texts {
  const read: Texts = {}
  for (const name of new Set(new URLSearchParams(search).keys())) {
    const texts = new URLSearchParams(search).getAll(name)
    const [first] = texts
    if (first !== undefined) read[name] = texts.length === 1 ? first : texts
  }
  return read
}

/** The other way round. What is undefined is left out. */
export function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(search)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) parameters.append(name, String(one))
    }
  }
  const text = parameters.toString()
  return text === '' ? '' : `?${text}`
}

/** The parameters of a page of the console: it takes all, and each page reads those that it knows. */
export function textsOf(search: Readonly<Record<string, unknown>>): Texts {
  return search as Texts
}

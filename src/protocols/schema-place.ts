import type { Json } from '../canonical/json.ts'

/** The keywords of one schema and its path. Keywords that are not taken stay for the description. */
export class SchemaPlace {
  readonly path: string
  readonly title: string | undefined
  readonly description: string | undefined
  readonly #rest: Map<string, unknown>

  constructor(schema: Json, path: string) {
    this.path = path
    this.#rest = new Map(Object.entries(schema))
    const title = this.take('title')
    const description = this.take('description')
    this.title = typeof title === 'string' ? title : undefined
    this.description = typeof description === 'string' ? description : undefined
  }

  rest(): Json {
    return Object.fromEntries(this.#rest)
  }

  has(keyword: string): boolean {
    return this.#rest.has(keyword)
  }

  peek(keyword: string): unknown {
    return this.#rest.get(keyword)
  }

  take(keyword: string): unknown {
    const value = this.#rest.get(keyword)
    this.#rest.delete(keyword)
    return value
  }

  below(step: string): string {
    return this.path === '' ? step : `${this.path}.${step}`
  }
}

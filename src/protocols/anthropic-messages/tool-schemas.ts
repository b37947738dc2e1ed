import type { FunctionTool } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import { type Notes, refused } from '../notes.ts'
import type { EncodeContext } from '../protocol.ts'
import { withKeywords } from '../schema-parts.ts'
import { removedText, rewriteSchema } from '../schema-subset.ts'

/**
 * The vendor answers 400 if there are more strict tools:
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs#schema-complexity-limits, read
 * 2026-11-22
 */
const strictToolsMax = 20

/** Encodes the schemas of a request's functions. */
export class ToolSchemas {
  readonly #context: Pick<EncodeContext, 'traits' | 'upstreamModel'> & { notes: Notes }
  #strictTools = 0

  constructor(context: Pick<EncodeContext, 'traits' | 'upstreamModel'> & { notes: Notes }) {
    this.#context = context
  }

  /** Returns `input_schema`, and `strict` if the client sets it and the vendor supports it. */
  encode(tool: FunctionTool): Json {
    const schema = objectSchema(tool)
    const obstacle = tool.strict === true ? this.#obstacle() : 'the client does not request it'
    if (obstacle === undefined) {
      const { schema: rewritten, removed, fits } = rewriteSchema(schema, this.#subset())
      if (fits && rewritten.type === 'object') {
        this.#strictTools += 1
        if (removed.length > 0) this.#context.notes.add('emulated', tool.path, removedText(removed))
        return { input_schema: rewritten, strict: true }
      }
      const reason =
        'strict schemas in the Messages format do not support recursion, arbitrary keys or values of any type'
      this.#notStrict(tool, reason)
    } else if (tool.strict === true) this.#notStrict(tool, obstacle)
    return { input_schema: this.#withoutUnions(schema, tool) }
  }

  #subset() {
    const { schema = 'anthropic' } = this.#context.traits
    return schema === 'none' ? 'anthropic' : schema
  }

  #obstacle(): string | undefined {
    const { traits, upstreamModel } = this.#context
    if (traits.strictTools === false) return `the model ${upstreamModel} does not support strict tools`
    if (this.#strictTools < strictToolsMax || this.#subset() !== 'anthropic') return undefined
    return `the Messages format allows at most ${strictToolsMax} strict tools`
  }

  #notStrict({ path }: FunctionTool, reason: string): void {
    this.#context.notes.add('dropped', path, `${reason}: the tool is sent without "strict"`)
  }

  /**
   * The vendor refuses a union as the schema of a tool: "input_schema does not support oneOf, allOf, or anyOf
   * at the top level", https://github.com/anthropics/claude-code/issues/5973, read 2026-11-22. The rewritten
   * schema contains its branches in the description.
   */
  #withoutUnions(schema: Json, { path }: FunctionTool): Json {
    if (this.#context.traits.schema === 'any') return schema
    const unions = Object.entries(schema).filter(([keyword]) => unionKeywords.has(keyword))
    if (unions.length === 0) return schema
    const { notes } = this.#context
    notes.add(
      'emulated',
      path,
      'the Messages format does not accept a union as a tool input: it is moved to the description',
    )
    const rest = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !unionKeywords.has(keyword)))
    return withKeywords(rest, undefined, unions)
  }
}

const unionKeywords: ReadonlySet<string> = new Set(['oneOf', 'anyOf', 'allOf'])

function objectSchema({ parameters, path }: FunctionTool): Json {
  if (parameters === undefined) return { type: 'object', properties: {} }
  const { type } = parameters
  if (type === 'object') return parameters
  if (type === undefined || type === null || (Array.isArray(type) && type.includes('object'))) {
    return { ...parameters, type: 'object' }
  }
  throw refused(path, 'in the Messages format, the input of a tool must be an object')
}

import type { GatewayError } from '../../canonical/error.ts'
import { allAddedMembers, encryptedReasoning } from '../../protocols/added-members.ts'

/** A request member that an upstream refused. */
export interface RefusedMember {
  /** Its path in snake_case, such as `max_completion_tokens` or `thinking.type`. */
  member: string
  /** The refused value; undefined if the upstream refuses the member with any value. */
  value?: string
  /** The values that the upstream lists as supported. */
  takes?: readonly string[]
}

/** Finds the members that an upstream's refusal reports as unsupported by the model or the server. */
export function refusedMembers({
  message: whole,
  field,
  code,
}: Pick<GatewayError, 'message' | 'field' | 'code'>): RefusedMember[] {
  const message = whole.slice(0, matchedCharactersMax)
  for (const { pattern, read } of wordings) {
    const found = [...message.matchAll(pattern)]
    if (found.length > 0) return found.flatMap((match) => read(match.groups ?? {})).slice(0, membersMax)
  }
  const isUnsupported = unsupportedCodes.has(code ?? '') || notSupported.test(message)
  if (field !== undefined && plainPath.test(field) && isUnsupported) return [{ member: snakeCase(field) }]
  const ours = allAddedMembers.find(({ words }) => words?.test(message) === true)
  return ours === undefined ? [] : [{ member: ours.member }]
}

/** The matching time of some patterns grows quadratically with the length of the text. */
const matchedCharactersMax = 2000
const membersMax = 8
const plainPath = /^[A-Za-z_][\w.]{0,80}$/
const unsupportedCodes: ReadonlySet<string> = new Set([
  'unsupported_parameter',
  'unsupported_value',
  'unknown_parameter',
])
const notSupported = /^[^.]{0,80}\bis not supported (?:with|for|by|on) this model/i

interface Wording {
  /**
   * Matches from the beginning of the message, because servers quote the request's text, which clients
   * control, only after it. With the flag `y`, each further match has to start where the previous one ended.
   * Values that are too high or too low are not matched.
   */
  pattern: RegExp
  read(groups: Partial<Record<string, string>>): RefusedMember[]
}

/** For a parameter that is refused with any value. */
const parameter = ({ member, others }: Partial<Record<string, string>>): RefusedMember[] =>
  [member, ...(others?.split(',') ?? [])].flatMap((name) => {
    const path = name?.trim() ?? ''
    return plainPath.test(path) ? [{ member: snakeCase(path) }] : []
  })

/** For a refused value of a parameter whose other values are supported. */
const oneValue = ({ member, value, takes }: Partial<Record<string, string>>): RefusedMember[] => {
  const words = [...(takes ?? '').matchAll(/['"`](\w{1,20})['"`]/g)].flatMap(([, word]) => word ?? [])
  return parameter({ member: member ?? '' }).map((refused) =>
    words.length === 0 || value === undefined ? refused : { ...refused, value, takes: words },
  )
}

const named =
  (...members: string[]) =>
  () =>
    members.map((member) => ({ member }))

/**
 * `test/traits/refused-members.test.ts` contains real messages with their sources. The first pattern that
 * matches is used.
 */
const wordings: readonly Wording[] = [
  // OpenAI, and servers that copy its messages.
  { pattern: /^Unsupported parameter: '(?<member>[\w.]+)'/g, read: parameter },
  {
    pattern:
      /^Unsupported value: '(?<member>[\w.]+)' does not support '?(?<value>[\w.-]+)'? with this model\.(?: Supported values are: (?<takes>[^.]{1,200}))?/g,
    read: oneValue,
  },
  {
    pattern: /^Unrecognized request arguments? supplied: (?<member>[\w.]+)(?<others>(?:, [\w.]+){0,7})/g,
    read: parameter,
  },
  { pattern: /^Unknown parameter: '(?<member>[\w.]+)'/g, read: parameter },
  {
    pattern: /^Encrypted content is not supported with this model/g,
    read: () => [{ member: 'include', value: encryptedReasoning }],
  },
  // Anthropic.
  { pattern: /^['"`]?(?<member>[\w.]+)['"`]? is deprecated for this model/g, read: parameter },
  { pattern: /^adaptive thinking is not supported on this model/g, read: named('thinking.type.adaptive') },
  {
    pattern: /^This model does not support the (?<member>effort) parameter/g,
    read: named('output_config.effort'),
  },
  {
    pattern: /^['"`]?temperature['"`]? and ['"`]?top_p['"`]? cannot both be specified for this model/g,
    read: named('temperature+top_p'),
  },
  // Gemini.
  {
    // In other places, such as a tool's schema, the names are chosen by the client.
    pattern:
      /(?:^|\s+)(?:Invalid JSON payload received\. )?Unknown name "(?<member>\w+)"(?: at 'generation_config[\w.]{0,40}')?: Cannot find field\.?/gy,
    read: parameter,
  },
  { pattern: /^Penalty is not enabled for/g, read: named('frequency_penalty', 'presence_penalty') },
  { pattern: /^Thinking level is not supported for this model/g, read: named('thinking_level') },
  {
    pattern: /^(?:Unable to submit request because )?thinking is not configurable in this model/gi,
    read: named('thinking_config'),
  },
  // xAI.
  { pattern: /^Argument not supported on this model: (?<member>\w+)/g, read: parameter },
  { pattern: /^Model [\w./:-]{1,100} does not support parameter (?<member>\w+)/g, read: parameter },
  // Servers written in Rust, such as DeepSeek's.
  {
    pattern:
      /^Failed to deserialize the JSON body into the target type: (?<member>[\w.]+): unknown variant `(?<value>\w+)`, expected (?:one of )?(?<takes>.{1,200}?) at line/g,
    read: oneValue,
  },
  {
    pattern:
      /^Failed to deserialize the JSON body into the target type: messages\.?\[[^\]]{1,8}\]\.role: unknown variant `developer`/g,
    read: named('messages.role.developer'),
  },
  { pattern: /^'?developer'? is not one of \[.{1,200} - 'messages/g, read: named('messages.role.developer') },
  // Servers written in Python: messages of pydantic and FastAPI, plain, as JSON or as Python literals.
  {
    pattern:
      /^\d+ validation errors? for \w+\n(?<member>[\w.]+)\n\s*Input should be (?<takes>.{1,200}?) \[type=(?:literal_error|enum), input_value='(?<value>\w+)'/g,
    read: oneValue,
  },
  {
    // A list of errors. Each ends with the value that the client sent, so we continue only after a number or
    // a simple string.
    pattern:
      /(?:^[^\w]{0,12}(?:detail[^\w]{1,12})?|,\s*\{\\*['"])type\\*['"]:\s*\\*['"]extra_forbidden\\*['"],\s*\\*['"]loc\\*['"]:\s*[[(]\\*['"]body\\*['"],\s*\\*['"](?<member>\w+)\\*['"][\])](?:,\s*\\*['"]msg\\*['"]:\s*\\*['"]Extra inputs are not permitted\\*['"](?:,\s*\\*['"]input\\*['"]:\s*(?:[\w.+-]{1,40}|(?<quote>\\*['"])[\w.+-]{0,40}\k<quote>))?(?:,\s*\\*['"]url\\*['"]:\s*\\*['"]https:\/\/errors\.pydantic\.dev\/[\w./]{1,60}\\*['"])?\})?/gy,
    read: parameter,
  },
  {
    pattern: /(?:^|; )(?:body\.)?(?<member>[A-Za-z_][\w.]{0,80}): Extra inputs are not permitted/gy,
    read: parameter,
  },
  // Chat templates of models, as run by vLLM, llama.cpp and LM Studio. Servers put their own text before the
  // message.
  {
    pattern:
      /^.{0,600}?\bsystem (?:message|prompt|role)s?\b[^.'"]{0,40}\b(?:(?:at|in) the (?:beginning|start)|(?:be|come) (?:the )?first|only (?:be )?one|once|multiple|more than one)\b/gis,
    read: named('messages.role.system'),
  },
  {
    pattern: /^.{0,300}?\b(?:only one|multiple|more than one|a single) system (?:message|prompt)s?\b/gis,
    read: named('messages.role.system'),
  },
  {
    pattern:
      /^.{0,200}?\bcontent\b.{0,60}?\b(?:must be a (?:valid )?string|should be a valid string|expected a string|as a list is only supported)\b/gis,
    read: named('messages.content'),
  },
  {
    pattern: /^.{0,80}?\bsequence item \d+: expected str instance, list found/g,
    read: named('messages.content'),
  },
  // Servers written in Go that decode strictly.
  { pattern: /^json: unknown field "(?<member>\w+)"/g, read: parameter },
  // Groq, Cerebras and gateways.
  { pattern: /^property '(?<member>[\w.]+)' is unsupported/g, read: parameter },
  {
    pattern:
      /^['"`]?(?<member>[A-Za-z_][\w.]{0,80}?)(?:=\w{1,20})?['"`]? is not supported (?:with|for|by|on) this model/g,
    read: parameter,
  },
]

function snakeCase(path: string): string {
  return path.replace(/^body\./, '').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

import { countOf, isRecord, type Json } from '../../canonical/json.ts'
import type { Members } from '../members.ts'
import { listSchema, type OwnFunction, objectSchema, textSchema, wordSchema } from '../own-function.ts'
import { actionOf, actionSchema } from './computer-actions.ts'
import { patchOutput, screenshotOutput, shellOutput, type ToolOutput, textOutput } from './tool-outputs.ts'
import { listedTools } from './wire.ts'

/**
 * A tool that the vendor defines and the client runs, whose calls and results have their own item types. In
 * other formats it becomes a function.
 */
export interface OwnTool {
  /** The name of the function. */
  name: string
  /** The type of its calls. The type of its results has the suffix `_output`. */
  call: 'shell_call' | 'local_shell_call' | 'apply_patch_call' | 'computer_call'
  /** The prefix of its call ids. */
  idPrefix: string
  /** `tool`: its definition. */
  asFunction(tool: Members): OwnFunction
  /** Converts arguments to the members of a call; undefined if they are invalid. */
  itemOf(input: Json): Json | undefined
  /** The arguments of a call in an earlier turn. */
  inputOf(call: Members): Json
  /** Converts a result to text for the model. */
  resultOf(result: Members): ToolOutput
}

/** The tool for a definition or a tool choice; undefined for other types. */
export function ownToolOf(type: unknown): OwnTool | undefined {
  return tools.get(type)
}

/** The tool whose call or result has this item type. */
export function ownItemOf(type: string): { tool: OwnTool; isResult: boolean } | undefined {
  const call = type.replace(/_output$/, '')
  const tool = byCall.get(call)
  return tool && { tool, isResult: call !== type }
}

/**
 * The tools of this kind in a request, by their function names. A call of one is an item of its own, which
 * the answer has to create from the function call.
 */
export function ownToolsIn(body: Json): ReadonlyMap<string, OwnTool> {
  const own = new Map<string, OwnTool>()
  for (const { type, environment } of listedTools(body)) {
    const tool = isHostedShell(environment) ? undefined : ownToolOf(type)
    if (tool !== undefined) own.set(tool.name, tool)
  }
  return own
}

/**
 * Whether the vendor itself runs this shell in one of its containers. Without an environment, the client runs
 * it: https://developers.openai.com/api/docs/guides/tools-shell, read 2026-11-28
 */
export function isHostedShell(environment: unknown): boolean {
  return isRecord(environment) && environment.type !== 'local'
}

export const hostedShellReason =
  'this shell runs in a container of its own vendor: set environment to {"type": "local"} and run the calls yourself, or use a model with a channel in the Responses format'

/** The tool `shell`, described in the same guide. */
const shell: OwnTool = {
  name: 'shell',
  call: 'shell_call',
  idPrefix: 'sh',
  asFunction: (tool) => ({
    description: `Run commands in a shell on the user's machine. The commands of one call may run in parallel: join commands that depend on each other with &&.${skillsIn(tool)}`,
    parameters: objectSchema(
      {
        commands: listSchema({ type: 'string' }, 'The commands to run, one shell line each.'),
        timeout_ms: { type: 'integer', description: 'The maximum run time in milliseconds.' },
        max_output_length: {
          type: 'integer',
          description: 'The maximum number of characters of output to show.',
        },
      },
      'commands',
    ),
  }),
  itemOf({ commands: given, timeout_ms, max_output_length }) {
    const commands = typeof given === 'string' ? [given] : given
    if (!isTexts(commands)) return undefined
    const action = {
      commands,
      timeout_ms: countOrNull(timeout_ms),
      max_output_length: countOrNull(max_output_length),
    }
    return { action, environment: { type: 'local' } }
  },
  inputOf(call) {
    // A call that the vendor ran in a container is followed by its output, like any other call.
    call.ignore(['environment'])
    return givenIn(call.requiredMembers('action'), ['commands', 'timeout_ms', 'max_output_length'])
  },
  resultOf: shellOutput,
}

/** https://developers.openai.com/api/docs/guides/tools-local-shell, read 2026-11-28 */
const localShell: OwnTool = {
  name: 'local_shell',
  call: 'local_shell_call',
  idPrefix: 'lsh',
  asFunction: () => ({
    description:
      'Run one command on the machine of the user. It is not interpreted by a shell: for pipes and variables use ["bash", "-lc", "..."].',
    parameters: objectSchema(
      {
        command: listSchema({ type: 'string' }, 'The program and its arguments.'),
        env: {
          type: 'object',
          additionalProperties: { type: 'string' },
          description: 'Environment variables.',
        },
        timeout_ms: { type: 'integer', description: 'The maximum run time in milliseconds.' },
        user: textSchema('The user to run the command as.'),
        working_directory: textSchema('The directory to run the command in.'),
      },
      'command',
    ),
  }),
  itemOf({ command, env: given, timeout_ms, user = null, working_directory = null }) {
    const env = given ?? {}
    if (!isTexts(command) || !isRecord(env) || !isTexts(Object.values(env))) return undefined
    if (!isTextOrNull(user) || !isTextOrNull(working_directory)) return undefined
    return {
      action: { type: 'exec', command, env, timeout_ms: countOrNull(timeout_ms), user, working_directory },
    }
  },
  inputOf(call) {
    const names = ['command', 'env', 'timeout_ms', 'user', 'working_directory']
    return givenIn(call.requiredMembers('action'), names)
  },
  resultOf: textOutput,
}

const operations = ['create_file', 'update_file', 'delete_file'] as const

/**
 * The diff uses the vendor's V4A format, without the lines that name files.
 * https://developers.openai.com/api/docs/guides/tools-apply-patch, read 2026-11-28
 */
const applyPatch: OwnTool = {
  name: 'apply_patch',
  call: 'apply_patch_call',
  idPrefix: 'apc',
  asFunction: () => ({
    description: [
      'Create, change or delete one file.',
      'create_file: each line of the diff is a line of the new file, prefixed with "+".',
      'update_file: the diff has one or more sections. A section begins with a line "@@", optionally followed by the line of the class or function that contains the change, as in "@@ def main():". Then follow lines of the file: prefix unchanged lines with " ", removed lines with "-" and new lines with "+". Include about three unchanged lines before and after a change, exactly as in the file. Do not include line numbers or file names.',
      'delete_file: no diff.',
    ].join('\n'),
    parameters: objectSchema(
      {
        type: wordSchema(operations),
        path: textSchema('The path of the file, relative to the root of the workspace.'),
        diff: textSchema('create_file, update_file: the diff.'),
      },
      'type',
      'path',
    ),
  }),
  itemOf({ type, path, diff }) {
    if (!operations.some((known) => known === type) || typeof path !== 'string' || path === '')
      return undefined
    if (type === 'delete_file') return { operation: { type, path } }
    return typeof diff === 'string' ? { operation: { type, path, diff } } : undefined
  },
  inputOf: (call) => givenIn(call.requiredMembers('operation'), ['type', 'path', 'diff']),
  resultOf: patchOutput,
}

/** https://developers.openai.com/api/docs/guides/tools-computer-use, read 2026-11-28 */
const computer: OwnTool = {
  name: 'computer',
  call: 'computer_call',
  idPrefix: 'cu',
  asFunction: () => ({
    description: `${useComputer} You receive a new screenshot after each call.`,
    parameters: objectSchema(
      { actions: listSchema(actionSchema, 'The actions to perform, in order.') },
      'actions',
    ),
  }),
  itemOf({ actions: given }) {
    const actions = Array.isArray(given) ? given.map(actionOf) : undefined
    if (actions === undefined || actions.includes(undefined)) return undefined
    return { actions, pending_safety_checks: [] }
  },
  inputOf(call) {
    const action = call.object('action')
    const actions = call.list('actions')
    return actions === undefined && action !== undefined ? action : { actions: actions ?? [] }
  },
  resultOf: screenshotOutput,
}

/** The previous version of the tool, in which each call contains a single action. */
const computerPreview: OwnTool = {
  ...computer,
  asFunction(tool) {
    const [width, height] = [tool.number('display_width'), tool.number('display_height')]
    const size =
      width === undefined || height === undefined ? '' : ` The screen has ${width} x ${height} pixels.`
    const environment = tool.text('environment')
    const where = environment === undefined ? '' : ` The environment is: ${environment}.`
    return {
      description: `${useComputer}${size}${where} You receive a new screenshot after each call.`,
      parameters: actionSchema,
    }
  },
  itemOf(input) {
    const action = actionOf(input)
    return action && { action, pending_safety_checks: [] }
  },
}

const useComputer =
  'Use a computer with its screen, mouse and keyboard. Coordinates are pixels of the last screenshot.'

const tools: ReadonlyMap<unknown, OwnTool> = new Map<unknown, OwnTool>([
  ['shell', shell],
  ['local_shell', localShell],
  ['apply_patch', applyPatch],
  ['computer', computer],
  ['computer_use', computer],
  ['computer_use_preview', computerPreview],
])

const byCall = new Map<string, OwnTool>(
  [shell, localShell, applyPatch, computer].map((tool) => [tool.call, tool]),
)

/** Describes the skills of a local shell. */
function skillsIn(tool: Members): string {
  const environment = tool.members('environment')
  environment?.ignore(['type'])
  const skills = environment?.objects('skills') ?? []
  environment?.noteRest()
  if (skills.length === 0) return ''
  const lines = skills.map((skill) => {
    const line = `- ${skill.requiredText('name')} (${skill.requiredText('path')}): ${skill.text('description') ?? ''}`
    skill.noteRest()
    return line
  })
  return `\n\nSkills are directories with a file SKILL.md. Read it before you use a skill:\n${lines.join('\n')}`
}

/** Returns those of these members that are present. The others are dropped with a note. */
function givenIn(object: Members, names: readonly string[]): Json {
  const given: Json = {}
  for (const name of names) {
    const value = object.any(name)
    if (value !== undefined) given[name] = value
  }
  object.ignore(['type'])
  object.noteRest()
  return given
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((text) => typeof text === 'string')
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === 'string'
}

/** A limit that is not a valid number is ignored, because the command matters more. */
function countOrNull(value: unknown): number | null {
  return countOf(value) ?? null
}

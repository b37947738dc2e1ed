import { countOf, isRecord, type Json } from '../../canonical/json.ts'
import type { Members } from '../members.ts'
import { listSchema, type OwnFunction, objectSchema, textSchema, wordSchema } from '../own-function.ts'
import { actionOf, actionSchema } from './computer-actions.ts'
import { patchOutput, screenshotOutput, shellOutput, type ToolOutput, textOutput } from './tool-outputs.ts'
import { listedTools } from './wire.ts'

/**
 * A tool that the vendor defines and the client runs, whose calls and results are items of their own. In
 * other formats it is a function.
 */
export interface OwnTool {
  /** Of the function. */
  name: string
  /** The type of its calls. That of its results has `_output` after it. */
  call: 'shell_call' | 'local_shell_call' | 'apply_patch_call' | 'computer_call'
  /** What the ids of its calls begin with. */
  idPrefix: string
  /** `tool`: its definition. */
  asFunction(tool: Members): OwnFunction
  /** The members of a call whose arguments these are; undefined: they do not fit. */
  itemOf(input: Json): Json | undefined
  /** The arguments of a call of an earlier turn. */
  inputOf(call: Members): Json
  /** What a result tells the model. */
  resultOf(result: Members): ToolOutput
}

/** The tool of a definition or of a tool choice; undefined for other types. */
export function ownToolOf(type: unknown): OwnTool | undefined {
  return tools.get(type)
}

/** The tool whose call or result an item of this type is. */
export function ownItemOf(type: string): { tool: OwnTool; isResult: boolean } | undefined {
  const call = type.replace(/_output$/, '')
  const tool = byCall.get(call)
  return tool && { tool, isResult: call !== type }
}

/**
 * Those that a request lists, by their names as functions. A call of one comes as an item of its own, and the
 * answer has to make it of the function's call.
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
 * Whether the vendor itself runs this shell, in one of its containers. Without an environment the client runs
 * it: https://developers.openai.com/api/docs/guides/tools-shell, read 2026-11-28
 */
export function isHostedShell(environment: unknown): boolean {
  return isRecord(environment) && environment.type !== 'local'
}

export const hostedShellReason =
  'the vendor itself runs this shell, in a container that only it has: set environment to {"type": "local"} and run the calls yourself, or use a model whose channel speaks Responses'

/** The same guide as above, for `shell`. */
const shell: OwnTool = {
  name: 'shell',
  call: 'shell_call',
  idPrefix: 'sh',
  asFunction: (tool) => ({
    description: `Run commands in a shell on the machine of the user. The commands of one call may run at the same time: join those that depend on each other with &&.${skillsIn(tool)}`,
    parameters: objectSchema(
      {
        commands: listSchema({ type: 'string' }, 'The commands to run, each as one line of the shell.'),
        timeout_ms: { type: 'integer', description: 'The most milliseconds that they may take.' },
        max_output_length: {
          type: 'integer',
          description: 'The most characters of their output that you want to see.',
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
    // A call that the vendor ran in a container has its output after it, like any other.
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
      'Run one command on the machine of the user. No shell reads it: for pipes and variables give ["bash", "-lc", "..."].',
    parameters: objectSchema(
      {
        command: listSchema({ type: 'string' }, 'The program and its arguments.'),
        env: {
          type: 'object',
          additionalProperties: { type: 'string' },
          description: 'Variables of its environment.',
        },
        timeout_ms: { type: 'integer', description: 'The most milliseconds that it may take.' },
        user: textSchema('The user to run it as.'),
        working_directory: textSchema('The directory to run it in.'),
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
 * The diff is the vendor's V4A, without the lines that name files.
 * https://developers.openai.com/api/docs/guides/tools-apply-patch, read 2026-11-28
 */
const applyPatch: OwnTool = {
  name: 'apply_patch',
  call: 'apply_patch_call',
  idPrefix: 'apc',
  asFunction: () => ({
    description: [
      'Create, change or delete one file.',
      'create_file: each line of the diff is a line of the new file with "+" before it.',
      'update_file: the diff has one or more sections. A section begins with a line "@@", which may go on with the line of the class or function that the change is in, as in "@@ def main():". Then come lines of the file: " " before a line that stays, "-" before one that goes, "+" before a new one. Give about three lines that stay before and behind a change, exactly as they are in the file. There are no line numbers, and no lines with names of files.',
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
    description: `${useComputer} You get one after each call.`,
    parameters: objectSchema({ actions: listSchema(actionSchema, 'What to do, in this order.') }, 'actions'),
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

/** The one before it, whose calls have one action each. */
const computerPreview: OwnTool = {
  ...computer,
  asFunction(tool) {
    const [width, height] = [tool.number('display_width'), tool.number('display_height')]
    const size =
      width === undefined || height === undefined ? '' : ` The screen has ${width} x ${height} pixels.`
    const environment = tool.text('environment')
    const where = environment === undefined ? '' : ` It is: ${environment}.`
    return {
      description: `${useComputer}${size}${where} You get one after each call.`,
      parameters: actionSchema,
    }
  },
  itemOf(input) {
    const action = actionOf(input)
    return action && { action, pending_safety_checks: [] }
  },
}

const useComputer =
  'Use a computer by its screen, mouse and keyboard. Coordinates are pixels of the last screenshot.'

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

/** The skills that a local shell has. */
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
  return `\n\nSkills are directories with a file SKILL.md, which you read before you use one:\n${lines.join('\n')}`
}

/** These members, as far as they are given. The others are dropped with a note. */
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

/** A bound that the model wrote in another way is ignored: its command is worth more. */
function countOrNull(value: unknown): number | null {
  return countOf(value) ?? null
}

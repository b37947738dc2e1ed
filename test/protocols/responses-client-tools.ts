import type { Json } from '../../src/canonical/json.ts'

/** A tool that the client runs: as it is declared, called and answered, and what becomes of that in other formats. */
export interface ClientToolCase {
  tool: Json & { type: string }
  /** Of the function. */
  name: string
  /** Words of its description. */
  says: string
  /** The members of its input, and those that are required. */
  members: string[]
  required: string[]
  /** The arguments of a call. */
  input: Json
  /** The item of that call as a client sends it back. */
  call: Json
  /** The item as we make it, without id, call_id and status. */
  item: Json
  /** What its id begins with. */
  id: RegExp
  /** The events of a stream between its announcement and its end. */
  steps: Json[]
  result: Json
  /** Texts of the result that the model sees. */
  tells: string[]
}

/** Base64 of a screenshot. */
export const picture = Buffer.from('a picture of the screen').toString('base64')

const command = 'ls -la | wc -l'
const shellInput = { commands: [command, 'pwd'], timeout_ms: 1000 }
const shellAction = { ...shellInput, max_output_length: null }
const localInput = { command: ['ls', '-la'], env: { A: 'b' }, working_directory: '/tmp' }
const operation = { type: 'update_file', path: 'lib/fib.py', diff: '@@\n-def fib(n):\n+def fibonacci(n):\n' }
const actions = [
  { type: 'screenshot' },
  { type: 'click', button: 'left', x: 10, y: 20, keys: null },
  { type: 'type', text: 'Hello' },
  {
    type: 'drag',
    path: [
      { x: 1, y: 2 },
      { x: 3, y: 4 },
    ],
    keys: ['SHIFT'],
  },
]
const actionMembers = ['type', 'x', 'y', 'button', 'keys', 'path', 'scroll_x', 'scroll_y', 'text']
const screenshot = {
  type: 'computer_call_output',
  call_id: 'call_1',
  output: { type: 'computer_screenshot', image_url: `data:image/png;base64,${picture}` },
}
const steps = (at: number, text: string) => [
  { type: 'response.shell_call_command.added', output_index: 0, command_index: at, command: '' },
  { type: 'response.shell_call_command.delta', output_index: 0, command_index: at, delta: text },
  { type: 'response.shell_call_command.done', output_index: 0, command_index: at, command: text },
]

export const clientToolCases: readonly ClientToolCase[] = [
  {
    tool: { type: 'shell', environment: { type: 'local' } },
    name: 'shell',
    says: "on the user's machine",
    members: ['commands', 'timeout_ms', 'max_output_length'],
    required: ['commands'],
    input: shellInput,
    call: { type: 'shell_call', call_id: 'call_1', action: shellAction },
    item: { type: 'shell_call', action: shellAction, environment: { type: 'local' } },
    id: /^sh_/,
    steps: [...steps(0, command), ...steps(1, 'pwd')],
    result: {
      type: 'shell_call_output',
      call_id: 'call_1',
      max_output_length: null,
      output: [
        { stdout: '12', stderr: '', outcome: { type: 'exit', exit_code: 0 } },
        { stdout: '', stderr: 'No.', outcome: { type: 'exit', exit_code: 7 } },
      ],
    },
    tells: ['12\n[exit code 0]', 'stderr:\nNo.\n[exit code 7]'],
  },
  {
    tool: { type: 'local_shell' },
    name: 'local_shell',
    says: 'It is not interpreted by a shell',
    members: ['command', 'env', 'timeout_ms', 'user', 'working_directory'],
    required: ['command'],
    input: localInput,
    call: { type: 'local_shell_call', call_id: 'call_1', action: { type: 'exec', ...localInput } },
    item: {
      type: 'local_shell_call',
      action: { type: 'exec', ...localInput, timeout_ms: null, user: null },
    },
    id: /^lsh_/,
    steps: [],
    result: { type: 'local_shell_call_output', id: 'call_1', output: '{"stdout":"12"}' },
    tells: ['{"stdout":"12"}'],
  },
  {
    tool: { type: 'apply_patch' },
    name: 'apply_patch',
    says: '"@@"',
    members: ['type', 'path', 'diff'],
    required: ['type', 'path'],
    input: operation,
    call: { type: 'apply_patch_call', call_id: 'call_1', operation },
    item: { type: 'apply_patch_call', operation },
    id: /^apc_/,
    steps: [],
    result: { type: 'apply_patch_call_output', call_id: 'call_1', status: 'completed' },
    tells: ['The patch was applied.'],
  },
  {
    tool: { type: 'computer' },
    name: 'computer',
    says: 'pixels of the last screenshot',
    members: ['actions'],
    required: ['actions'],
    input: { actions },
    call: { type: 'computer_call', call_id: 'call_1', actions, pending_safety_checks: [] },
    item: { type: 'computer_call', actions, pending_safety_checks: [] },
    id: /^cu_/,
    steps: [],
    result: screenshot,
    tells: [],
  },
  {
    tool: {
      type: 'computer_use_preview',
      display_width: 1024,
      display_height: 768,
      environment: 'browser',
    },
    name: 'computer',
    says: '1024 x 768 pixels. The environment is: browser.',
    members: actionMembers,
    required: ['type'],
    input: { type: 'scroll', x: 1, y: 2, scroll_x: 0, scroll_y: 300, keys: null },
    call: {
      type: 'computer_call',
      call_id: 'call_1',
      action: { type: 'scroll', x: 1, y: 2, scroll_x: 0, scroll_y: 300, keys: null },
      pending_safety_checks: [],
    },
    item: {
      type: 'computer_call',
      action: { type: 'scroll', x: 1, y: 2, scroll_x: 0, scroll_y: 300, keys: null },
      pending_safety_checks: [],
    },
    id: /^cu_/,
    steps: [],
    result: screenshot,
    tells: [],
  },
]

import type { Json } from '../../canonical/json.ts'
import type { Members } from '../members.ts'
import { listSchema, type OwnFunction, objectSchema, textSchema, wordSchema } from '../own-function.ts'

/**
 * The function equivalent to a tool whose input is defined by the vendor but which the client runs. Its calls
 * and results look like those of any other tool. Undefined if the vendor runs the tool or it is a set of
 * tools.
 *
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-reference and the pages of each tool,
 * read 2026-11-28
 */
export function functionOf(type: string, tool: Members): OwnFunction | undefined {
  const [, kind, date = ''] = /^(bash|text_editor|memory|computer)_(\d{8})$/.exec(type) ?? []
  switch (kind) {
    case 'bash':
      return {
        description: 'Run a command in a bash session that keeps its state between calls.',
        parameters: objectSchema({
          command: textSchema('The command to run. Required unless the session is restarted.'),
          restart: { type: 'boolean', description: 'true: restart the session.' },
        }),
      }
    case 'text_editor':
      return textEditor(date, tool.number('max_characters'))
    case 'memory':
      return {
        description:
          'Store everything that must outlast this conversation in files under /memories. View that directory before you begin a task, and record your progress as you go.',
        parameters: objectSchema(
          {
            command: wordSchema(['view', 'create', 'str_replace', 'insert', 'delete', 'rename']),
            ...fileMembers,
            insert_text: textSchema('insert: the text to insert.'),
            old_path: textSchema('rename: the current path.'),
            new_path: textSchema('rename: the new path.'),
          },
          'command',
        ),
      }
    case 'computer':
      return computer(date, {
        width: tool.number('display_width_px'),
        height: tool.number('display_height_px'),
        display: tool.number('display_number'),
        zooms: tool.boolean('enable_zoom') ?? false,
      })
    default:
      return undefined
  }
}

function textEditor(date: string, charactersMax: number | undefined): OwnFunction {
  const isOlder = date < '20250429'
  const most = charactersMax === undefined ? '' : ` A view shows at most ${charactersMax} characters.`
  return {
    description: `View, create and edit text files. str_replace replaces a text that must match exactly and occur only once.${most}`,
    parameters: objectSchema(
      {
        command: wordSchema(['view', 'create', 'str_replace', 'insert', ...(isOlder ? ['undo_edit'] : [])]),
        ...fileMembers,
        ...(isOlder ? {} : { insert_text: textSchema('insert: the text to insert.') }),
        ...(isOlder ? { new_str: textSchema('str_replace, insert: the new text.') } : {}),
      },
      'command',
      'path',
    ),
  }
}

const fileMembers = {
  path: textSchema('The path of the file or directory.'),
  file_text: textSchema('create: the content of the file.'),
  old_str: textSchema('str_replace: the text to replace.'),
  new_str: textSchema('str_replace: the replacement text.'),
  insert_line: {
    type: 'integer',
    description: 'insert: the line after which to insert the text; 0: the beginning of the file.',
  },
  view_range: listSchema(
    { type: 'integer' },
    'view: the first and last line to show; -1: the end of the file.',
  ),
}

interface Screen {
  width: number | undefined
  height: number | undefined
  display: number | undefined
  zooms: boolean
}

function computer(date: string, { width, height, display, zooms }: Screen): OwnFunction {
  const actions = [
    'key',
    'type',
    'cursor_position',
    'mouse_move',
    'left_click',
    'left_click_drag',
    'right_click',
  ]
  actions.push('middle_click', 'double_click', 'screenshot')
  if (date >= '20250124')
    actions.push('left_mouse_down', 'left_mouse_up', 'triple_click', 'scroll', 'hold_key', 'wait')
  if (zooms) actions.push('zoom')
  const number = display === undefined ? '' : ` Its display number is ${display}.`
  return {
    description: `Use a computer with its screen, mouse and keyboard. The screen has ${width} x ${height} pixels; coordinates are [x, y] from the upper left corner.${number} Take a screenshot to see the effect of an action.`,
    parameters: objectSchema(
      {
        action: wordSchema(actions),
        coordinate: pixels('Where to click, move or scroll, or where a drag ends.'),
        start_coordinate: pixels('left_click_drag: where the drag begins.'),
        text: textSchema(
          'type: the text. key, hold_key: keys in xdotool syntax, such as ctrl+s. Clicks: keys to hold down.',
        ),
        scroll_direction: wordSchema(['up', 'down', 'left', 'right']),
        scroll_amount: { type: 'integer' },
        duration: { type: 'number', description: 'hold_key, wait: the duration in seconds.' },
        ...(zooms
          ? { region: pixels('zoom: [x, y] of the upper left corner and of the lower right corner.') }
          : {}),
      },
      'action',
    ),
  }
}

function pixels(description: string): Json {
  return listSchema({ type: 'integer' }, description)
}

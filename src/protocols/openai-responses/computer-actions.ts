import { isRecord, type Json, recordsOf } from '../../canonical/json.ts'
import { listSchema, objectSchema, textSchema, wordSchema } from '../own-function.ts'

const buttons = ['left', 'right', 'wheel', 'back', 'forward']

/**
 * The schema of one step of the computer tool. It is flat, because many models have difficulty with a union
 * of nine objects. Equivalent to `ComputerAction` of `openai` 7.55.0, read 2026-11-28.
 */
export const actionSchema = objectSchema(
  {
    type: wordSchema([
      ...['click', 'double_click', 'drag', 'keypress', 'move', 'screenshot', 'scroll', 'type', 'wait'],
    ]),
    x: {
      type: 'integer',
      description: 'click, double_click, move, scroll: pixels from the left edge of the screen.',
    },
    y: {
      type: 'integer',
      description: 'click, double_click, move, scroll: pixels from the top edge of the screen.',
    },
    button: wordSchema(buttons),
    keys: listSchema(
      { type: 'string' },
      'keypress: the keys to press together, such as CTRL and S. Other actions: keys to hold down.',
    ),
    path: listSchema(
      objectSchema({ x: { type: 'integer' }, y: { type: 'integer' } }, 'x', 'y'),
      'drag: the points of the path.',
    ),
    scroll_x: { type: 'integer', description: 'scroll: pixels to the right.' },
    scroll_y: { type: 'integer', description: 'scroll: pixels down.' },
    text: textSchema('type: the text.'),
  },
  'type',
)

/**
 * Returns the action with exactly the members of its type; undefined if one of them is missing or has the
 * wrong type.
 */
export function actionOf(given: unknown): Json | undefined {
  if (!isRecord(given)) return undefined
  const form = forms.get(given.type)
  if (form === undefined) return undefined
  const action: Json = { type: given.type }
  for (const [name, otherwise] of Object.entries(form)) {
    const value = given[name] ?? otherwise
    if (value === undefined) return undefined
    if (value === null || fits(name, value)) action[name] = value
    else return undefined
  }
  return action
}

/** The members of each action, with their default values; undefined for required members. */
const forms: ReadonlyMap<unknown, Readonly<Json>> = new Map<unknown, Json>([
  ['click', { button: 'left', x: undefined, y: undefined, keys: null }],
  ['double_click', { x: undefined, y: undefined, keys: null }],
  ['drag', { path: undefined, keys: null }],
  ['keypress', { keys: undefined }],
  ['move', { x: undefined, y: undefined, keys: null }],
  ['screenshot', {}],
  ['scroll', { x: undefined, y: undefined, scroll_x: 0, scroll_y: 0, keys: null }],
  ['type', { text: undefined }],
  ['wait', {}],
])

function fits(name: string, value: unknown): boolean {
  switch (name) {
    case 'button':
      return buttons.some((button) => button === value)
    case 'keys':
      return Array.isArray(value) && value.every((key) => typeof key === 'string')
    case 'path':
      return (
        Array.isArray(value) &&
        recordsOf(value).length === value.length &&
        recordsOf(value).every(({ x, y }) => Number.isFinite(x) && Number.isFinite(y))
      )
    case 'text':
      return typeof value === 'string'
    default:
      return Number.isFinite(value)
  }
}

import { isRecord, type Json, recordsOf } from '../../canonical/json.ts'
import { listSchema, objectSchema, textSchema, wordSchema } from '../own-function.ts'

const buttons = ['left', 'right', 'wheel', 'back', 'forward']

/**
 * One step of the computer tool, flat: many models fill a union of nine objects badly. As `ComputerAction` of
 * `openai` 7.55.0, read 2026-11-28.
 */
export const actionSchema = objectSchema(
  {
    type: wordSchema([
      ...['click', 'double_click', 'drag', 'keypress', 'move', 'screenshot', 'scroll', 'type', 'wait'],
    ]),
    x: {
      type: 'integer',
      description: 'click, double_click, move, scroll: pixels from the left of the screen.',
    },
    y: { type: 'integer', description: 'click, double_click, move, scroll: pixels from its top.' },
    button: wordSchema(buttons),
    keys: listSchema(
      { type: 'string' },
      'keypress: the keys to press together, such as CTRL and S. Others: keys that are held down meanwhile.',
    ),
    path: listSchema(
      objectSchema({ x: { type: 'integer' }, y: { type: 'integer' } }, 'x', 'y'),
      'drag: the points of the way.',
    ),
    scroll_x: { type: 'integer', description: 'scroll: pixels to the right.' },
    scroll_y: { type: 'integer', description: 'scroll: pixels down.' },
    text: textSchema('type: the text.'),
  },
  'type',
)

/**
 * The action with the members that its type has, and no others; undefined: one of them is missing or of
 * another type.
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

/** The members of each action, with what one is that the model leaves out: undefined where it may not. */
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

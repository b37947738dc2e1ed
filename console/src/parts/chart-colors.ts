/**
 * Colours of charts for both schemes, in the order in which series take them. Neighbours differ in lightness
 * too.
 */
const series = {
  light: ['#0b7370', '#e0962a', '#5b5bd6', '#d0568f', '#5fa83a', '#2f8fd0', '#9a3fc4', '#b8561b'],
  dark: ['#5fccc4', '#f0bd66', '#9a9af5', '#f08fba', '#9bd67a', '#74b8ea', '#cd94f5', '#e8976a'],
} as const

/** Of what has no colour of its own: the series of all others. */
const rest = { light: '#a3adb6', dark: '#66737f' } as const

/** How requests end has the same colour on all pages. */
const outcomes = {
  light: {
    succeeded: '#3aa39c',
    refused: '#d9a13b',
    failed: '#c8372d',
    cancelled: '#8c98a4',
    orphaned: '#7a4fb5',
  },
  dark: {
    succeeded: '#2f948d',
    refused: '#c9932f',
    failed: '#ef6a5f',
    cancelled: '#71808d',
    orphaned: '#a98be0',
  },
} as const

export type Scheme = 'light' | 'dark'

export function seriesColor(scheme: Scheme, at: number): string {
  return series[scheme][at % series[scheme].length] ?? series[scheme][0]
}

export function restColor(scheme: Scheme): string {
  return rest[scheme]
}

export const outcomeNames = ['succeeded', 'refused', 'failed', 'cancelled', 'orphaned'] as const
export type Outcome = (typeof outcomeNames)[number]

export function outcomeColor(scheme: Scheme, outcome: Outcome): string {
  return outcomes[scheme][outcome]
}

/**
 * Colours of charts for both schemes, in the order in which series take them. Neighbours differ in lightness
 * too.
 */
const series = {
  light: ['#0b7370', '#d08a1d', '#5b5bd6', '#c2477f', '#4f8f2f', '#8a6d3b', '#2f7fb8', '#7b8794'],
  dark: ['#5fccc4', '#e9b45c', '#9a9af5', '#ee86b3', '#94cf6f', '#c9a877', '#74b8ea', '#8b99a6'],
} as const

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

export const outcomeNames = ['succeeded', 'refused', 'failed', 'cancelled', 'orphaned'] as const
export type Outcome = (typeof outcomeNames)[number]

export function outcomeColor(scheme: Scheme, outcome: Outcome): string {
  return outcomes[scheme][outcome]
}

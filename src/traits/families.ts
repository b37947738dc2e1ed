import type { Family } from './family.ts'

/** The built-in table. Of several lines that fit a model all count, and the later ones win, trait by trait. */
export const families: readonly Family[] = []

/** How good something is. It is shown by a word and a shape; the colour only repeats it. */
export type Tone = 'good' | 'warning' | 'bad' | 'quiet' | 'info'

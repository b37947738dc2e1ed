import type { CSSVariablesResolver } from '@mantine/core'

/**
 * The colours of both schemes, by what they are for. Each text colour has a contrast of 4.5 or more on
 * `ground`, `raised` and `sunk` of its scheme: `theme.test.ts` computes it.
 */
export const palette = {
  light: {
    ground: '#ffffff',
    raised: '#ffffff',
    sunk: '#f5f7f8',
    line: '#dfe4e7',
    text: '#14202a',
    quiet: '#566370',
    accent: '#0b7370',
    'accent-soft': '#e6f7f6',
    good: '#1a7340',
    'good-soft': '#e5f5eb',
    warning: '#8a5300',
    'warning-soft': '#fdf2dc',
    bad: '#b3261e',
    'bad-soft': '#fdeceb',
  },
  dark: {
    ground: '#0f1519',
    raised: '#161e24',
    sunk: '#1b252c',
    line: '#2c3943',
    text: '#e4eaee',
    quiet: '#9caab5',
    accent: '#5fccc4',
    'accent-soft': '#12312f',
    good: '#6dcf93',
    'good-soft': '#12301f',
    warning: '#e9b45c',
    'warning-soft': '#34270f',
    bad: '#ff8f86',
    'bad-soft': '#3b1917',
  },
} as const

function variables(colors: Readonly<Record<string, string>>, isDark: boolean): Record<string, string> {
  const own = Object.fromEntries(Object.entries(colors).map(([name, value]) => [`--tg-${name}`, value]))
  return {
    ...own,
    '--mantine-color-body': colors.ground ?? '',
    '--mantine-color-text': colors.text ?? '',
    '--mantine-color-dimmed': colors.quiet ?? '',
    '--mantine-color-anchor': colors.accent ?? '',
    '--mantine-color-default-border': colors.line ?? '',
    '--mantine-color-default': colors.raised ?? '',
    '--mantine-color-default-hover': colors.sunk ?? '',
    '--mantine-color-placeholder': colors.quiet ?? '',
    '--mantine-color-error': colors.bad ?? '',
    ...(isDark ? darkSteps(colors) : {}),
  }
}

/** Fields, lists and windows of Mantine take their dark grounds and lines from steps of a colour. */
function darkSteps(colors: Readonly<Record<string, string>>): Record<string, string> {
  return {
    '--mantine-color-dark-filled': colors.sunk ?? '',
    '--mantine-color-dark-4': colors.line ?? '',
    '--mantine-color-dark-5': colors.line ?? '',
    '--mantine-color-dark-6': colors.sunk ?? '',
    '--mantine-color-dark-7': colors.ground ?? '',
  }
}

export const colorVars: CSSVariablesResolver = () => ({
  variables: {},
  light: variables(palette.light, false),
  dark: variables(palette.dark, true),
})

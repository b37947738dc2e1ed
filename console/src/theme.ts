import { createTheme, type MantineColorsTuple } from '@mantine/core'
import { colorVars } from './theme-colors.ts'

/**
 * The one accent, a calm blue-green. White on shade 7 has a contrast of 5.5, shade 3 on the dark ground one
 * of 9.
 */
const accent: MantineColorsTuple = [
  '#e6f7f6',
  '#cdeeeb',
  '#9ddcd7',
  '#6ac9c2',
  '#3fb3ac',
  '#1f9c95',
  '#0f847e',
  '#0b7370',
  '#085e5b',
  '#064a48',
]

const mono = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace'

/**
 * Sizes, spacing and radius are those of the brief, and no others: 12/13/14/16/20/28 px, steps of 4 px, 6 px.
 */
export const theme = createTheme({
  colors: { accent },
  primaryColor: 'accent',
  primaryShade: { light: 7, dark: 6 },
  autoContrast: true,
  respectReducedMotion: true,
  defaultRadius: 6,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", sans-serif',
  fontFamilyMonospace: mono,
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '20px' },
  spacing: { xs: '4px', sm: '8px', md: '12px', lg: '16px', xl: '24px' },
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '20px', lineHeight: '28px' },
      h2: { fontSize: '16px', lineHeight: '24px' },
      h3: { fontSize: '14px', lineHeight: '20px' },
    },
  },
  components: {
    Button: { defaultProps: { size: 'xs', fz: 13 } },
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray' } },
    // By themselves 2 px smaller than the field.
    InputWrapper: { styles: { description: { fontSize: 12 }, error: { fontSize: 12 } } },
    TextInput: { defaultProps: { size: 'sm' } },
    NumberInput: { defaultProps: { size: 'sm' } },
    PasswordInput: { defaultProps: { size: 'sm' } },
    Select: { defaultProps: { size: 'sm', allowDeselect: false } },
    MultiSelect: { defaultProps: { size: 'sm' } },
    TagsInput: { defaultProps: { size: 'sm' } },
    Textarea: { defaultProps: { size: 'sm' } },
    Tooltip: { defaultProps: { openDelay: 300, withArrow: true, fz: 12 } },
    Anchor: { defaultProps: { fz: 'inherit' } },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'Close the message' } } },
    Modal: { defaultProps: { closeButtonProps: { 'aria-label': 'Close the window' } } },
    Drawer: { defaultProps: { closeButtonProps: { 'aria-label': 'Close the menu' } } },
  },
})

export const cssVariables = colorVars

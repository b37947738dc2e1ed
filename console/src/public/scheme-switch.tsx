import { ActionIcon, Tooltip, useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { MoonIcon, SunIcon } from '@primer/octicons-react'

/** Light or dark. Until somebody chooses, the pages do as the machine does. */
export function SchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme()
  const scheme = useComputedColorScheme('light')
  const other = scheme === 'dark' ? 'light' : 'dark'
  return (
    <Tooltip label={`Use ${other} colours`}>
      <ActionIcon size={32} aria-label={`Use ${other} colours`} onClick={() => setColorScheme(other)}>
        {scheme === 'dark' ? <SunIcon size={16} /> : <MoonIcon size={16} />}
      </ActionIcon>
    </Tooltip>
  )
}

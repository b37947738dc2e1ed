import { Drawer } from '@mantine/core'
import type { ReactNode } from 'react'
import { site } from '../site.ts'

/** The menu where there is no room beside the page. */
export function PhoneMenu({ onClose, children }: { onClose(): void; children: ReactNode }) {
  return (
    <Drawer opened onClose={onClose} size={264} title={site.name} padding="sm">
      {children}
    </Drawer>
  )
}

import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { site } from '../../site.ts'
import classes from './sign-in-frame.module.css'

/** The frame of the pages before somebody is signed in. */
export function SignInFrame({ title, children }: { title: string; children: ReactNode }) {
  useDocumentTitle(`${title} · ${site.name}`)
  return (
    <main className={classes.door}>
      <div className={classes.name}>
        <img src={site.logo ?? '/site/icon'} alt="" height={24} />
        {site.name}
      </div>
      <div className={classes.panel}>
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  )
}

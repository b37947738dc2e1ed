import { ActionIcon, Burger, Drawer, Kbd, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { SearchIcon } from '@primer/octicons-react'
import { Link, Outlet } from '@tanstack/react-router'
import { Suspense } from 'react'
import { useMay, useSession } from '../api/session.ts'
import { zoneName } from '../format/moments.ts'
import { site } from '../site.ts'
import classes from './console-frame.module.css'
import { KeysHelp, useConsoleKeys } from './keys.tsx'
import { places } from './navigation.ts'
import { openPalette, Palette } from './palette.tsx'
import { Waiting } from './waiting.tsx'
import { WhoMenu } from './who-menu.tsx'

/** What stands around each page of the console: the menu, the palette, the keyboard. */
export function ConsoleFrame() {
  const [isOpen, menu] = useDisclosure(false)
  const help = useConsoleKeys()
  return (
    <div className={classes.frame}>
      <a href="#main" className={classes.skip}>
        Skip to the page
      </a>
      <header className={classes.bar}>
        <Burger opened={isOpen} onClick={menu.toggle} size="sm" aria-label="Menu" />
        <Name />
        <ActionIcon aria-label="Find anything" onClick={openPalette}>
          <SearchIcon size={16} />
        </ActionIcon>
      </header>
      <div className={classes.side}>
        <Menu />
      </div>
      <Drawer opened={isOpen} onClose={menu.close} size={264} title={site.name} padding="sm">
        <Menu onGo={menu.close} />
      </Drawer>
      <main id="main" className={classes.main} tabIndex={-1}>
        <Suspense fallback={<Waiting />}>
          <Outlet />
        </Suspense>
      </main>
      <Palette />
      <KeysHelp {...help} />
    </div>
  )
}

function Name() {
  return (
    <Link to="/console" className={classes.name}>
      {site.logo === null ? null : <img src={site.logo} alt="" height={20} />}
      {site.name}
    </Link>
  )
}

function Menu({ onGo }: { onGo?: () => void }) {
  const may = useMay()
  const { role } = useSession()
  return (
    <nav className={classes.menu} aria-label="Pages">
      <div className={classes.top}>
        <Name />
      </div>
      <UnstyledButton
        className={classes.find}
        onClick={() => {
          onGo?.()
          openPalette()
        }}
      >
        <SearchIcon size={14} aria-hidden />
        <span>Find anything</span>
        <Kbd size="xs">{navigator.platform.startsWith('Mac') ? '⌘' : 'Ctrl'} K</Kbd>
      </UnstyledButton>
      {places.map(({ title, places }) => {
        const shown = places.filter(
          ({ area, notForMembers }) =>
            (area === undefined || may(area)) && !(role === 'member' && notForMembers === true),
        )
        if (shown.length === 0) return null
        return (
          <div key={title} className={classes.group}>
            <h2>{title}</h2>
            <ul>
              {shown.map(({ title, to, icon: Icon, key }) => (
                <li key={to}>
                  <Link
                    to={to}
                    className={classes.place}
                    activeProps={{ 'data-here': true }}
                    activeOptions={{ exact: to === '/console', includeSearch: false }}
                    {...(onGo === undefined ? {} : { onClick: onGo })}
                  >
                    <Icon size={16} aria-hidden />
                    <span>{title}</span>
                    <span className={classes.key} aria-hidden>
                      G {key.toUpperCase()}
                    </span>
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        )
      })}
      <div className={classes.foot}>
        <WhoMenu />
        <div className={classes.zone}>
          <VisuallyHidden>All times are in </VisuallyHidden>
          {zoneName()} {site.version === '' ? null : `· ${site.version}`}
        </div>
      </div>
    </nav>
  )
}

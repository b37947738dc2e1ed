import { useState } from 'react'
import { addressOf } from './image-links.ts'
import classes from './jobs.module.css'

/** An image of a job. Where it cannot be shown, words say why. */
export function Picture({ link, alt, isWhole = false }: { link: string; alt: string; isWhole?: boolean }) {
  const address = addressOf(link)
  const [broken, setBroken] = useState<string | undefined>(undefined)
  if (address === undefined) {
    return isWhole ? (
      <a href={link} target="_blank" rel="noreferrer">
        Open the image in its bucket
      </a>
    ) : (
      <span className={classes.none}>in the bucket</span>
    )
  }
  if (broken === address) return <span className={classes.none}>The image is deleted.</span>
  const image = <img src={address} alt={alt} loading="lazy" onError={() => setBroken(address)} />
  return isWhole ? (
    <a href={address} target="_blank" rel="noreferrer" title="Open the image in its full size">
      {image}
    </a>
  ) : (
    image
  )
}

import { mkdir, open, rename, rmdir, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf, isMissing } from './storage-failure';

/** Recordings are private: only the account of the service may read them. */
const FOLDER_MODE = 0o700;

/** File systems that cannot sync a folder say so with one of these; there is nothing to wait for. */
const CANNOT_SYNC_FOLDERS = new Set<unknown>(['EINVAL', 'ENOTSUP']);

/** A removal may take away a folder between its creation and the move into it, but hardly again and again. */
const MOVE_ATTEMPTS = 5;

/** Creates `folder` and what is missing above it; answers the topmost one created, if any. */
export function makeFolder(folder: string): Promise<string | undefined> {
  return mkdir(folder, { recursive: true, mode: FOLDER_MODE });
}

/** When it resolves, the bytes of the file survive a power cut (its name does not yet). */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * When it resolves, the names in `folder` and in every folder above it up to `top` survive a power
 * cut. All of them are synced and not only those just created, because another write may have
 * created one and not synced it yet. A folder that is gone has no names to keep.
 */
export async function syncFolders(folder: string, top: string): Promise<void> {
  for (let current = folder; ; current = dirname(current)) {
    await syncFolder(current);
    if (current === top || current === dirname(current)) {
      return;
    }
  }
}

/**
 * Moves a synced file of the same disk to `target`, replacing what was there and creating folders
 * below `top`; when it resolves, the file survives a power cut under its new name.
 */
export async function moveFile(from: string, target: string, top: string): Promise<void> {
  const folder = dirname(target);
  for (let attempt = 1; ; attempt += 1) {
    try {
      await makeFolder(folder);
      await rename(from, target);
      break;
    } catch (error) {
      if (attempt === MOVE_ATTEMPTS || !isMissing(error)) {
        throw error;
      }
    }
  }
  await syncFolders(folder, top);
}

/** Removes the file, if it is there, and the folders below `top` that it leaves empty. */
export async function removeFile(path: string, top: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (!isMissing(error)) {
      throw error;
    }
  }
  let folder = dirname(path);
  while (folder !== top && (await removeIfEmpty(folder))) {
    folder = dirname(folder);
  }
  await syncFolder(folder);
}

/** True when the folder is no longer there. */
async function removeIfEmpty(folder: string): Promise<boolean> {
  try {
    await rmdir(folder);
    return true;
  } catch (error) {
    if (isMissing(error)) {
      return true;
    }
    if (errnoOf(error) === 'ENOTEMPTY' || errnoOf(error) === 'EEXIST') {
      return false;
    }
    throw error;
  }
}

async function syncFolder(folder: string): Promise<void> {
  try {
    await syncFile(folder);
  } catch (error) {
    if (!isMissing(error) && !CANNOT_SYNC_FOLDERS.has(errnoOf(error))) {
      throw error;
    }
  }
}

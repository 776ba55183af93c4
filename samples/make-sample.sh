#!/usr/bin/env bash
# Makes sample.ogg, the recording of `npm run demo`, from sample.txt. Needs flite and ffmpeg.
# The sentences are ones that PocketSphinx, the engine that is always there, gets right.
set -euo pipefail
cd "$(dirname "$0")"

spoken=$(mktemp --suffix=.wav)
trap 'rm -f "$spoken"' EXIT

flite -voice slt -t "$(cat sample.txt)" -o "$spoken"
ffmpeg -nostdin -v error -y -i "$spoken" -ac 1 -ar 48000 -c:a libopus -b:a 24k -bitexact sample.ogg

export { RecognitionModule, scratchFolder } from './recognition.module';
export { sweepScratch } from './sweep-scratch';
export {
  ENGINES,
  Recognizer,
  type EngineName,
  type RecognitionAnswer,
  type RecognitionRequest,
  type RecognitionResult,
  type RecognitionTicket,
  type RecognizedSegment,
} from './recognizer.port';

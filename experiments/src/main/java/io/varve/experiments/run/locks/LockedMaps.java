package io.varve.experiments.run.locks;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Hash maps of words, each under its own lock: one map with one lock, one with a readers-writer lock, or segments by
 * the word's hash. Thread-safe. Source: Song and Pu, "Implementation and Evaluation of a Durable Distributed Key-Value
 * Store", section 4.4, which has them in Go.
 */
final class LockedMaps implements WordStore {
    /** Spreads a hash, whose low bits also choose the bucket in the segment's map. */
    private static final int GOLDEN = 0x9e3779b9;

    /** A map with its locks; both are the same unless readers share. */
    private record Segment(Map<Word, byte[]> map, Lock reading, Lock writing) {}

    private final Word[] words;
    private final Segment[] segments;
    private final int shift;

    private LockedMaps(Word[] words, Segment[] segments) {
        this.words = words;
        this.segments = segments;
        this.shift = Integer.SIZE - Integer.numberOfTrailingZeros(segments.length);
    }

    /** One map with one lock for readers and writers. */
    static LockedMaps withOneLock(Word[] words) {
        return new LockedMaps(words, new Segment[] {exclusive()});
    }

    /** One map whose readers do not exclude each other. */
    static LockedMaps withReadersWriterLock(Word[] words) {
        ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        return new LockedMaps(words,
                new Segment[] {new Segment(new HashMap<>(), lock.readLock(), lock.writeLock())});
    }

    /** @param count number of segments, a power of two above 1 */
    static LockedMaps withSegments(Word[] words, int count) {
        if (Integer.bitCount(count) != 1 || count < 2) {
            throw new IllegalArgumentException("segments " + count + ": expected a power of two above 1");
        }
        Segment[] segments = new Segment[count];
        for (int i = 0; i < count; i++) {
            segments[i] = exclusive();
        }
        return new LockedMaps(words, segments);
    }

    private static Segment exclusive() {
        Lock lock = new ReentrantLock();
        return new Segment(new HashMap<>(), lock, lock);
    }

    private Segment segment(Word word) {
        return segments.length == 1 ? segments[0] : segments[word.hashCode() * GOLDEN >>> shift];
    }

    @Override
    public Access open() {
        return new Access() {
            @Override
            public int read(int number) {
                Word word = words[number];
                Segment segment = segment(word);
                segment.reading().lock();
                try {
                    byte[] value = segment.map().get(word);
                    return value == null ? -1 : value[0];
                } finally {
                    segment.reading().unlock();
                }
            }

            @Override
            public void write(int number, byte[] value) {
                Word word = words[number];
                byte[] copy = value.clone();
                Segment segment = segment(word);
                segment.writing().lock();
                try {
                    if (segment.map().replace(word, copy) == null) {
                        // The map's key is another object than the requests' word, so a lookup compares the bytes.
                        segment.map().put(new Word(word.bytes().clone()), copy);
                    }
                } finally {
                    segment.writing().unlock();
                }
            }
        };
    }

    @Override
    public void close() {
        // The collector frees the maps.
    }
}

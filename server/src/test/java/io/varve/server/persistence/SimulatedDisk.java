package io.varve.server.persistence;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * A disk that loses its power, or its room, after some operations. Then only what was forced is certain: of the rest of
 * a file, each sector may be there, or be zeros, or be missing at the end; of the changes of a directory since it was
 * forced, the first ones may be there. Thread-safe.
 */
final class SimulatedDisk implements Disk {
    private static final int SECTOR_BYTES = 512;

    /** The bytes of a file, and how many of them were forced. */
    private static final class Content {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private int forced;
    }

    private final Map<Path, Content> entries = new HashMap<>();
    private final java.util.ArrayDeque<Map<Path, Content>> unforced = new java.util.ArrayDeque<>();
    private Map<Path, Content> forcedEntries = new HashMap<>();
    private int operationsLeft;
    private int failuresLeft;
    private boolean hasPower = true;

    /**
     * @param operations operations before the power is lost
     * @param failures of the next writes, how many fail for want of room
     */
    SimulatedDisk(int operations, int failures) {
        operationsLeft = operations;
        failuresLeft = failures;
    }

    /** Sets how many of the next writes fail. */
    synchronized void failures(int count) {
        failuresLeft = count;
    }

    synchronized boolean hasPower() {
        return hasPower;
    }

    synchronized void cutPower() {
        hasPower = false;
    }

    private void operate() throws IOException {
        if (operationsLeft-- <= 0) {
            hasPower = false;
        }
        if (!hasPower) {
            throw new IOException("no power");
        }
    }

    private void entriesChanged() {
        unforced.add(new HashMap<>(entries));
    }

    @Override
    public synchronized Output create(Path file) throws IOException {
        operate();
        Content content = new Content();
        entries.put(file, content);
        entriesChanged();
        return new Output() {
            @Override
            public void write(ByteBuffer bytes) throws IOException {
                synchronized (SimulatedDisk.this) {
                    byte[] written = new byte[bytes.remaining()];
                    bytes.get(written);
                    boolean isFull = failuresLeft > 0;
                    int part = operationsLeft <= 0 || isFull ? written.length / 2 : written.length;
                    if (hasPower) {
                        content.bytes.write(written, 0, part);
                    }
                    operate();
                    if (isFull) {
                        failuresLeft--;
                        throw new IOException("No space left on device");
                    }
                }
            }

            @Override
            public void force() throws IOException {
                synchronized (SimulatedDisk.this) {
                    operate();
                    content.forced = content.bytes.size();
                }
            }

            @Override
            public void truncate(long bytes) throws IOException {
                synchronized (SimulatedDisk.this) {
                    operate();
                    byte[] all = Arrays.copyOf(content.bytes.toByteArray(), (int) bytes);
                    content.bytes.reset();
                    content.bytes.writeBytes(all);
                    content.forced = Math.min(content.forced, all.length);
                }
            }

            @Override
            public void close() {
                // Nothing is buffered.
            }
        };
    }

    @Override
    public synchronized void move(Path from, Path to) throws IOException {
        operate();
        Content moved = entries.remove(from);
        if (moved == null) {
            throw new IOException(from + " does not exist");
        }
        entries.put(to, moved);
        entriesChanged();
    }

    @Override
    public synchronized void delete(Path file) throws IOException {
        operate();
        entries.remove(file);
        entriesChanged();
    }

    @Override
    public synchronized void forceDirectory(Path directory) throws IOException {
        operate();
        forcedEntries = new HashMap<>(entries);
        unforced.clear();
    }

    @Override
    public synchronized long size(Path file) throws IOException {
        Content content = entries.get(file);
        if (content == null) {
            throw new IOException(file + " does not exist");
        }
        return content.bytes.size();
    }

    /** Writes what is there after the loss of power. */
    synchronized void restore(SplittableRandom random) throws IOException {
        Map<Path, Content> there = forcedEntries;
        for (int i = random.nextInt(unforced.size() + 1); i > 0; i--) {
            there = unforced.removeFirst();
        }
        for (Map.Entry<Path, Content> each : there.entrySet()) {
            Files.write(each.getKey(), restored(each.getValue(), random));
        }
    }

    private static byte[] restored(Content content, SplittableRandom random) {
        byte[] bytes = content.bytes.toByteArray();
        int length = bytes.length;
        switch (random.nextInt(4)) {
            case 0 -> length = content.forced;
            case 1 -> length = content.forced + random.nextInt(bytes.length - content.forced + 1);
            default -> {
                for (int i = content.forced; i < bytes.length; i += SECTOR_BYTES - i % SECTOR_BYTES) {
                    if (random.nextBoolean()) {
                        Arrays.fill(bytes, i, Math.min(bytes.length, i + SECTOR_BYTES - i % SECTOR_BYTES), (byte) 0);
                    }
                }
            }
        }
        return Arrays.copyOf(bytes, length);
    }
}

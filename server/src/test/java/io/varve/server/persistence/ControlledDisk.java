package io.varve.server.persistence;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * The machine's disk. A test can hold the forces of increments, and let operations fail. Thread-safe: guarded by its
 * own monitor.
 */
public final class ControlledDisk implements Disk {
    /** The operations that can fail. */
    public enum Operation {
        CREATE, WRITE, FORCE, MOVE
    }

    private static final long RETRY_NANOS = 1_000_000;

    private final Disk system = Disk.system();
    private final Map<Operation, String> failures = new EnumMap<>(Operation.class);
    private boolean isHolding;
    private int held;
    private int forces;
    private int failed;

    /** Logs over this disk, which end the process as a server's does. */
    public AppendLog.Factory logs() {
        return (stream, ticker, fatal) -> new AppendLog(stream, this, ticker, RETRY_NANOS, fatal);
    }

    /** Logs over this disk that report the end of the process instead. */
    public AppendLog.Factory logs(Consumer<String> fatal) {
        return (stream, ticker, _) -> new AppendLog(stream, this, ticker, RETRY_NANOS, fatal);
    }

    // --- holding

    /** Holds all further forces of increments. */
    public synchronized void hold() {
        isHolding = true;
    }

    /** Ends {@link #hold}. */
    public synchronized void release() {
        isHolding = false;
        notifyAll();
    }

    /** Waits until a force is held. */
    public synchronized void awaitHeld() {
        awaitUntil(() -> held > 0);
    }

    /** Forces of increments that have ended so far. */
    public synchronized int forces() {
        return forces;
    }

    private synchronized void force(Path file, Output output) throws IOException {
        boolean isIncrement = file.toString().contains(".incr.");
        if (isHolding && isIncrement) {
            held++;
            notifyAll();
            awaitUntil(() -> !isHolding);
            held--;
        }
        failIfWanted(Operation.FORCE);
        output.force();
        forces += isIncrement ? 1 : 0;
    }

    private void awaitUntil(BooleanSupplier condition) {
        try {
            while (!condition.getAsBoolean()) {
                wait();
            }
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
        }
    }

    // --- failing

    /** Lets operations of a kind fail from now on. */
    public synchronized void fail(Operation operation, String message) {
        failures.put(operation, message);
    }

    /** Lets all operations succeed again. */
    public synchronized void repair() {
        failures.clear();
    }

    /** Waits until so many more operations have failed. */
    public synchronized void awaitFailures(int more) {
        int target = failed + more;
        awaitUntil(() -> failed >= target);
    }

    /** Operations that have failed so far. */
    public synchronized int failed() {
        return failed;
    }

    private synchronized void failIfWanted(Operation operation) throws IOException {
        String message = failures.get(operation);
        if (message != null) {
            failed++;
            notifyAll();
            throw new IOException(message);
        }
    }

    // --- the disk

    @Override
    public Output create(Path file) throws IOException {
        failIfWanted(Operation.CREATE);
        Output output = system.create(file);
        return new Output() {
            @Override
            public void write(ByteBuffer bytes) throws IOException {
                try {
                    failIfWanted(Operation.WRITE);
                } catch (IOException full) {
                    // As a real disk does, it takes a part.
                    output.write(bytes.slice(bytes.position(), bytes.remaining() / 2));
                    throw full;
                }
                output.write(bytes);
            }

            @Override
            public void force() throws IOException {
                ControlledDisk.this.force(file, output);
            }

            @Override
            public void truncate(long bytes) throws IOException {
                output.truncate(bytes);
            }

            @Override
            public void close() throws IOException {
                output.close();
            }
        };
    }

    @Override
    public void move(Path from, Path to) throws IOException {
        failIfWanted(Operation.MOVE);
        system.move(from, to);
    }

    @Override
    public void delete(Path file) throws IOException {
        system.delete(file);
    }

    @Override
    public long size(Path file) throws IOException {
        return system.size(file);
    }

    @Override
    public void forceDirectory(Path directory) throws IOException {
        system.forceDirectory(directory);
    }
}

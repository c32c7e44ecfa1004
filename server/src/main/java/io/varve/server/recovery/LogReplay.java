package io.varve.server.recovery;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import io.varve.server.command.CommandTable;
import io.varve.server.command.ServerState;
import io.varve.server.command.persistence.LoadMemory;
import io.varve.server.command.persistence.LoadThreads;
import io.varve.server.persistence.LoadProgress;
import io.varve.server.persistence.LogReader;
import io.varve.server.persistence.ReplayClock;

/**
 * Runs the commands of a log again, in several threads if a file is large. Confined to the thread that starts the
 * server; each {@link ReplayPart} has a thread of its own.
 *
 * <p>Each part reads the whole file and runs the commands of its shards only, so there is no queue between threads.
 * {@link CommandSplit} says what happens to commands with several keys or none. Over flash there is one part: while
 * it waits for a key, the others would have to wait too.
 */
final class LogReplay implements AutoCloseable {
    /** Files below this size are not worth several threads. */
    private static final long PARALLEL_BYTES = 1 << 20;

    /** Receives the offset that was reached. */
    @FunctionalInterface
    interface Progress {
        /** @throws LoadProgress.CancelledException if the load has to end */
        void reached(long offset) throws LoadProgress.CancelledException;
    }

    private final ServerState server;
    private final CommandTable table;
    private final ReplayClock clock;
    private final LoadMemory memory;
    private final List<ReplayPart> parts = new ArrayList<>();

    LogReplay(ServerState server, CommandTable table, ReplayClock clock, LoadMemory memory) {
        this.server = server;
        this.table = table;
        this.clock = clock;
        this.memory = memory;
    }

    /** Commands that were refused when they ran again. */
    long refused() {
        return parts.stream().mapToLong(ReplayPart::refused).sum();
    }

    /**
     * Runs the commands of a file.
     *
     * @param from where they begin
     * @param mayBeTorn whether the file is the last one of its log
     * @param progress receives the offset now and then
     * @return the reader, at the end of the file
     */
    LogReader run(Path file, MemorySegment bytes, long from, boolean mayBeTorn, Progress progress)
            throws IOException {
        int count = server.flash() != null || bytes.byteSize() - from < PARALLEL_BYTES
                ? 1
                : Math.min(server.cache().shardCount(), Runtime.getRuntime().availableProcessors());
        while (parts.size() < count) {
            parts.add(new ReplayPart(server, table, clock, memory, parts.size()));
        }
        List<ReplayPart> active = parts.subList(0, count);
        active.forEach(part -> part.begin(count));
        ReplayMeeting meeting = new ReplayMeeting(active, clock);
        LoadThreads threads = new LoadThreads(() -> {
            active.forEach(ReplayPart::stop);
            meeting.cancel();
        });
        List<LogReader> readers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            readers.add(new LogReader(file, bytes, from, mayBeTorn));
        }
        try {
            for (int i = 0; i < count; i++) {
                ReplayPart part = active.get(i);
                LogReader reader = readers.get(i);
                threads.start(() -> part.run(file, reader, meeting));
            }
            while (threads.isRunning()) {
                progress.reached(active.getFirst().offset());
            }
        } catch (LoadProgress.CancelledException | RuntimeException | Error ended) {
            threads.fail(ended);
        } finally {
            threads.join();
        }
        threads.rethrow();
        meeting.timePassed();
        LogReader reader = readers.getFirst();
        progress.reached(reader.offset());
        return reader;
    }

    @Override
    public void close() {
        parts.forEach(ReplayPart::close);
    }
}

package io.varve.server.persistence;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;

import io.varve.memory.item.Ticker;
import io.varve.server.persistence.AppendLog.Sync;
import io.varve.server.system.NativeMemory;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The log on a disk that loses its power: afterwards it has all changes that were reported as durable, and of the
 * others the first ones. Confined to the test's thread, apart from the log's.
 *
 * <p>{@code -Dvarve.log.histories=N} sets the number of histories, {@code -Dvarve.log.seed=N} repeats a run.
 */
@Timeout(600)
class LogPowerLossTest {
    private static final int HISTORIES = TestBudget.ofInt("varve.log.histories", 400, 10_000);
    private static final String NAME = "log";

    @Test
    void durableChanges_surviveALossOfPower(@TempDir Path folder) throws IOException {
        long seed = TestBudget.seed("varve.log.seed");
        for (int i = 0; i < HISTORIES; i++) {
            Path directory = Files.createDirectory(folder.resolve("history" + i));
            new History(new SplittableRandom(seed + i), directory, "seed " + seed + ", history " + i).run();
            try (var files = Files.list(directory)) {
                for (Path file : files.toList()) {
                    Files.delete(file);
                }
            }
            Files.delete(directory);
        }
    }

    /** A log that could not write its last changes is closed, and opened again when there is room. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void logThatHasLostChanges_isWrittenAgainAfterItWasOpenedAgain(@TempDir Path directory) throws IOException {
        History history = new History(new SplittableRandom(1), directory, "a disk without room", 1 << 20);
        AppendLog log = history.open();
        history.append(10);
        history.awaitDurable(log);
        history.disk.failures(Integer.MAX_VALUE);
        history.append(10);
        log.close();
        history.disk.failures(0);
        log.open(directory, NAME, null);
        assertThat(history.rewrite(log)).isTrue();
        history.append(10);
        history.awaitDurable(log);
        assertThat(log.isDurable(history.offsets.getLast())).isTrue();
        log.close();
        history.stream.close();
    }

    /** A log that is written until its power is lost. Change number n is the command SET n. */
    private static final class History {
        private final SplittableRandom random;
        private final Path directory;
        private final String how;
        private final SimulatedDisk disk;
        private final ChangeStream stream = new ChangeStream();
        private final AtomicReference<String> fatal = new AtomicReference<>();
        private final List<Long> offsets = new ArrayList<>();
        private long durable;

        History(SplittableRandom random, Path directory, String how) {
            this(random, directory, how, random.nextInt(120));
            disk.failures(random.nextInt(8) == 0 ? random.nextInt(4) : 0);
        }

        /** @param operations operations before the power is lost */
        History(SplittableRandom random, Path directory, String how, int operations) {
            this.random = random;
            this.directory = directory;
            this.how = how;
            disk = new SimulatedDisk(operations, 0);
        }

        AppendLog open() throws IOException {
            AppendLog log = new AppendLog(stream, disk, Ticker.system(), 0, fatal::set);
            log.sync(Sync.ALWAYS);
            log.open(directory, NAME, null);
            assertThat(rewrite(log)).isTrue();
            return log;
        }

        void run() throws IOException {
            AppendLog log = new AppendLog(stream, disk, Ticker.system(), 0, fatal::set);
            log.sync(random.nextInt(4) == 0 ? Sync.NO : Sync.ALWAYS);
            log.open(directory, NAME, null);
            boolean complete = rewrite(log);
            while (disk.hasPower() && complete) {
                switch (random.nextInt(12)) {
                    case 0 -> rewrite(log);
                    case 1, 2, 3 -> awaitDurable(log);
                    default -> append(random.nextInt(40) == 0 ? 200_000 : random.nextInt(2_000));
                }
            }
            durable = log.durable();
            disk.cutPower();
            log.close();
            stream.close();
            check(complete);
        }

        private void append(int valueBytes) {
            byte[] command = ("*2\r\n$3\r\nSET\r\n$" + (10 + valueBytes) + "\r\n" + "%010d".formatted(offsets.size())
                    + "x".repeat(valueBytes) + "\r\n").getBytes(StandardCharsets.US_ASCII);
            try (NativeMemory memory = new NativeMemory()) {
                var bytes = memory.allocate(command.length);
                bytes.copyFrom(java.lang.foreign.MemorySegment.ofArray(command));
                offsets.add(stream.append(random.nextInt(2), 0, random.nextInt(3), bytes.address(), command.length));
            }
        }

        private void awaitDurable(AppendLog log) {
            if (offsets.isEmpty()) {
                return;
            }
            long offset = offsets.getLast();
            while (disk.hasPower() && fatal.get() == null && !log.isDurable(offset)) {
                log.whenDurable(offset, () -> {});
                log.writeSoon();
                Thread.onSpinWait();
            }
        }

        /** @return whether it has ended */
        private boolean rewrite(AppendLog log) {
            long cut = stream.cut();
            Path base = log.temporaryBase();
            try {
                try (Disk.Output output = disk.create(base)) {
                    output.write(ByteBuffer.wrap(Integer.toString(offsets.size()).getBytes(StandardCharsets.US_ASCII)));
                    output.force();
                }
                log.replaceBase(base, cut);
                return true;
            } catch (IOException failed) {
                return false;
            }
        }

        private void check(boolean complete) throws IOException {
            disk.restore(random);
            Path file = LogManifest.file(directory, NAME);
            if (!Files.exists(file)) {
                assertThat(complete).as(how + ": a log that was begun has no manifest").isFalse();
                return;
            }
            LogManifest manifest = LogManifest.read(file);
            LogManifest.Entry base = java.util.Objects.requireNonNull(manifest.base());
            int next = Integer.parseInt(Files.readString(directory.resolve(base.name())));
            for (int i = 0; i < manifest.increments().size(); i++) {
                next = read(directory.resolve(manifest.increments().get(i).name()), next,
                        i == manifest.increments().size() - 1);
            }
            int acknowledged = 0;
            while (acknowledged < offsets.size() && offsets.get(acknowledged) <= durable) {
                acknowledged++;
            }
            assertThat(next).as(how).isBetween(acknowledged, offsets.size());
        }

        /** @return the number of the change after the last one of the file */
        private int read(Path file, int first, boolean isLast) throws IOException {
            RecordedRequests requests = new RecordedRequests();
            try (NativeMemory memory = new NativeMemory(); FileChannel channel = FileChannel.open(file)) {
                LogReader reader = new LogReader(file, memory.map(channel), 0, isLast);
                while (reader.read(requests)) {
                    // All are collected.
                }
            }
            int next = first;
            for (List<String> request : requests.all()) {
                if (request.getFirst().equals("SET")) {
                    assertThat(Integer.parseInt(request.get(1).substring(0, 10))).as(how).isEqualTo(next);
                    next++;
                }
            }
            return next;
        }
    }
}

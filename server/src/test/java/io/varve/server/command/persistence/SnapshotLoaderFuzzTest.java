package io.varve.server.command.persistence;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.varve.memory.Cache;
import io.varve.memory.item.Item;
import io.varve.server.command.ServerState;
import io.varve.server.config.ServerConfig;
import io.varve.server.fuzz.FuzzCase;
import io.varve.server.fuzz.FuzzRun;
import io.varve.server.fuzz.GuardedMemory;
import io.varve.server.rdb.Crc64;
import io.varve.server.rdb.PayloadMemory;
import io.varve.server.rdb.PayloadReader;
import io.varve.server.rdb.RdbException;
import io.varve.server.rdb.RdbFuzzTest;
import io.varve.server.rdb.RdbReader;
import io.varve.server.rdb.StreamSink;
import io.varve.server.rdb.ValueSink;
import io.varve.server.testing.SettableTicker;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import static io.varve.server.rdb.Payloads.length;
import static io.varve.server.rdb.Payloads.texts;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Loads any bytes as an RDB file into a cache: it has all keys of the file afterwards, or the file is refused with an
 * offset. Confined to the test's thread.
 *
 * <p>The lowest bit of the first byte says whether the end of a file and its checksum are put behind the other bytes.
 */
public class SnapshotLoaderFuzzTest {
    private static final GuardedMemory FILE = new GuardedMemory(1 << 16);
    private static final Path NAME = Path.of("dump.rdb");
    private static final Pattern OFFSET = Pattern.compile("dump\\.rdb: offset (\\d+): .+");
    private static final int END = 0xff;
    private static final SettableTicker CLOCK = new SettableTicker();

    private static Cache cache;
    private static ServerState server;

    @BeforeAll
    public static void fuzzerInitialize() {
        // Small limits: small files reach all forms of collections.
        ServerConfig config = ServerConfig.defaults().with("maxmemory", "64mb").with("shards", "2")
                .with("hash-max-listpack-entries", "2").with("zset-max-listpack-entries", "2")
                .with("set-max-intset-entries", "2").with("list-max-listpack-size", "2");
        cache = Cache.open(config.cacheConfig().withTicker(CLOCK));
        server = new ServerState(cache, config, CLOCK, _ -> {});
    }

    @AfterAll
    public static void fuzzerTearDown() {
        cache.close();
        FILE.close();
    }

    @Test
    void anyFileIsLoadedAsAWholeOrRefused() {
        new FuzzRun(fuzzCase()).runFewer();
    }

    /** The target, for whatever drives it. */
    public static FuzzCase fuzzCase() {
        Stream<String> files = RdbFuzzTest.files().stream().map(file -> "\0" + file);
        Stream<String> ended = Stream.of("\u0001REDIS0010\u0002" + texts("set") + length(0),
                "\u0001REDIS0010\u0002" + texts("set") + length(2) + texts("a", "b"));
        return new FuzzCase(SnapshotLoaderFuzzTest.class, SnapshotLoaderFuzzTest::fuzzerTestOneInput,
                Stream.concat(files, ended).toList(), RdbFuzzTest.words());
    }

    public static void fuzzerTestOneInput(byte[] input) {
        if (input.length == 0) {
            return;
        }
        byte[] file = Arrays.copyOfRange(input, 1, input.length);
        if ((input[0] & 1) != 0) {
            file = ended(file);
        }
        String seen = load(file, (byte) 0);
        assertThat(load(file, (byte) 0xff)).isEqualTo(seen);
    }

    private static byte[] ended(byte[] file) {
        byte[] ended = Arrays.copyOf(file, file.length + 1 + Long.BYTES);
        ended[file.length] = (byte) END;
        MemorySegment bytes = FILE.segment(Arrays.copyOf(ended, file.length + 1), (byte) 0);
        long checksum = Crc64.update(0, bytes.address(), file.length + 1);
        for (int i = 0; i < Long.BYTES; i++) {
            ended[file.length + 1 + i] = (byte) (checksum >>> i * Byte.SIZE);
        }
        return ended;
    }

    /** The memory of the test's server: its limit holds. */
    private static LoadMemory limited() throws IOException {
        LoadMemory memory = LoadMemory.begin(server);
        memory.restoreLimit();
        return memory;
    }

    /** The digest of the loaded data, or why the file was refused. Bytes outside the file must not affect it. */
    private static String load(byte[] file, byte around) {
        MemorySegment bytes = FILE.segment(file, around);
        try {
            long end = SnapshotLoader.loadBase(server, NAME, bytes, _ -> {}, limited());
            assertThat(end).isBetween(1L, (long) file.length);
            assertThat(keys()).isEqualTo(liveEntries(bytes));
            String digest = DatasetDigest.of(server);
            if (end < file.length) {
                flush();
                assertThat(SnapshotLoader.loadBase(server, NAME, bytes.asSlice(0, end), _ -> {}, limited()))
                        .isEqualTo(end);
                assertThat(DatasetDigest.of(server)).as("without what is behind it").isEqualTo(digest);
            }
            return digest;
        } catch (IOException refused) {
            assertThat(refused).hasCauseInstanceOf(RdbException.class);
            String text = String.valueOf(refused.getMessage());
            Matcher message = OFFSET.matcher(text);
            assertThat(message.matches()).as(text).isTrue();
            assertThat(Long.parseLong(message.group(1))).isLessThanOrEqualTo(file.length);
            return text;
        } finally {
            assertThat(cache.checkIntegrity()).isEmpty();
            flush();
            assertThat(keys()).isZero();
        }
    }

    private static void flush() {
        cache.flushAll();
    }

    private static long keys() {
        long keys = 0;
        for (int i = 0; i < cache.databaseCount(); i++) {
            keys += cache.size(i);
        }
        return keys;
    }

    private static boolean hasElements(RdbReader reader, PayloadReader values) {
        boolean[] has = new boolean[1];
        values.readValue(reader.type(), reader.value(), reader.valueLength(), new ValueSink() {
            @Override
            public void begin(Kind kind) {
                // Empty so far.
            }

            @Override
            public void element(long address, int length) {
                has[0] = true;
            }

            @Override
            public void member(long address, int length, double score) {
                has[0] = true;
            }

            @Override
            public StreamSink stream() {
                // A stream needs no elements.
                has[0] = true;
                return (ms, seq, address, length, entries) -> assertThat(entries).isPositive();
            }

            @Override
            public void field(long field, int fieldLength, long value, int valueLength, long time) {
                has[0] = true;
            }
        });
        return has[0];
    }

    /** Entries of the file that have not expired, and are no empty collections. */
    private static long liveEntries(MemorySegment bytes) throws RdbException {
        long entries = 0;
        try (Arena arena = Arena.ofConfined()) {
            PayloadMemory memory = length -> arena.allocate(Math.max(1, length)).address();
            RdbReader reader = new RdbReader(bytes.address(), bytes.byteSize(), memory, new RdbReader.Sink() {
                @Override
                public void auxiliary(String name, String value) {
                    // No key.
                }

                @Override
                public void sizes(int database, long keys, long expiring) {
                    // They are announced, and need not be right.
                }

                @Override
                public void library(long offset, byte[] source) {
                    // No key.
                }
            });
            PayloadReader values = new PayloadReader(memory);
            while (reader.next()) {
                boolean isLive = reader.expireAtMillis() == Item.NEVER || reader.expireAtMillis() > CLOCK.wallMillis();
                if (isLive && hasElements(reader, values)) {
                    entries++;
                }
            }
        }
        return entries;
    }
}

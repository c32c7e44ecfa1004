package io.varve.experiments.run.locks;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.function.Function;
import java.util.stream.Stream;

import io.varve.experiments.run.context.Cancellation;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests that every store keeps what its threads write. Confined to the test's thread, which starts others. */
final class WordStoreTest {
    private static final int WORDS = 300;
    private static final int THREADS = 4;

    static Stream<Arguments> stores() {
        return Stream.of(Arguments.of("one lock", (Function<Word[], WordStore>) LockedMaps::withOneLock),
                Arguments.of("readers-writer lock", (Function<Word[], WordStore>) LockedMaps::withReadersWriterLock),
                Arguments.of("segment locks", (Function<Word[], WordStore>) words -> LockedMaps.withSegments(words, 8)),
                Arguments.of("Varve", (Function<Word[], WordStore>) WordStoreTest::varve));
    }

    private static WordStore varve(Word[] words) {
        return new VarveStore(ServerConfig.defaults().with("maxmemory", "16mb").cacheConfig(), words);
    }

    private static Word[] words() {
        Word[] words = new Word[WORDS];
        for (int i = 0; i < WORDS; i++) {
            words[i] = new Word(("word " + i).getBytes(StandardCharsets.US_ASCII));
        }
        return words;
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("stores")
    void read_afterWrite_returnsLastValue(String name, Function<Word[], WordStore> open) {
        try (WordStore store = open.apply(words())) {
            WordStore.Access first = store.open();
            WordStore.Access second = store.open();
            assertThat(first.read(7)).as("%s: absent", name).isEqualTo(-1);
            byte[] value = {5, 1};
            first.write(7, value);
            value[0] = 9;
            assertThat(second.read(7)).as("the bytes are copied").isEqualTo(5);
            second.write(7, value);
            assertThat(first.read(7)).isEqualTo(9);
            assertThat(first.read(8)).isEqualTo(-1);
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("stores")
    void run_countsRequestsAndMisses(String name, Function<Word[], WordStore> open) throws IOException {
        try (WordStore store = open.apply(words())) {
            StoreThreads threads = new StoreThreads(store, THREADS, WORDS, new byte[] {1, 2}, 1, new Cancellation());
            assertThat(threads.run(false, 50).missed()).as("%s is empty", name).isPositive();
            WordStore.Access access = store.open();
            for (int word = 0; word < WORDS; word++) {
                access.write(word, new byte[] {1, 2});
            }
            for (boolean writes : new boolean[] {false, true}) {
                StoreThreads.Result result = threads.run(writes, 50);
                assertThat(result.missed()).isZero();
                assertThat(result.ops()).isPositive();
                assertThat(result.cpuNanosPerOp()).isNotNegative();
            }
        }
    }

    @Test
    void withSegments_ofAnyOtherNumber_isRefused() {
        assertThatThrownBy(() -> LockedMaps.withSegments(words(), 12)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("12");
    }

    @Test
    void wordsWithEqualBytes_areEqual() {
        Word word = new Word(new byte[] {1, 2});
        assertThat(word).isEqualTo(new Word(new byte[] {1, 2})).isNotEqualTo(new Word(new byte[] {1, 3}))
                .hasSameHashCodeAs(new Word(new byte[] {1, 2}));
    }
}

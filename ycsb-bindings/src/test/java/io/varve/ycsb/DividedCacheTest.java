package io.varve.ycsb;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;

import io.lettuce.core.RedisException;
import io.varve.ycsb.option.CacheAsideOptions;
import io.varve.ycsb.option.VarveOptions;
import io.varve.ycsb.record.RecordCache;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import site.ycsb.ByteIterator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests how records are divided among several servers. Confined to the test's thread. */
class DividedCacheTest {
    private static final int RECORDS = 3000;

    private final List<MapCache> members = List.of(new MapCache(), new MapCache(), new MapCache());
    private final DividedCache cache = new DividedCache(new ArrayList<RecordCache>(members));

    private static byte[] key(int i) {
        return ("user" + i).getBytes(StandardCharsets.US_ASCII);
    }

    private CompletableFuture<Optional<String>> write(int i) {
        return cache.write(key(i), Map.of("field", key(i)), 0);
    }

    private boolean isThere(int i) {
        Map<String, ByteIterator> found = new HashMap<>();
        ByteIterator value = cache.read(key(i), found) ? found.get("field") : null;
        return value != null && new String(value.toArray(), StandardCharsets.US_ASCII).equals("user" + i);
    }

    @Test
    void eachRecordIsOnOneServer() {
        for (int i = 0; i < RECORDS; i++) {
            assertThat(write(i)).isCompletedWithValue(Optional.empty());
        }
        for (int i = 0; i < RECORDS; i++) {
            assertThat(isThere(i)).isTrue();
        }
        assertThat(members).allSatisfy(each -> assertThat(each.records).hasSizeBetween(RECORDS / 4, RECORDS / 2));
        assertThat(members.stream().mapToInt(each -> each.records.size()).sum()).isEqualTo(RECORDS);
        cache.remove(key(7));
        assertThat(isThere(7)).isFalse();
        assertThat(isThere(8)).isTrue();
    }

    /** A client that awaits the last one has then awaited all. */
    @Test
    void theReplyToAWriteFollowsThoseOfEarlierOnes() {
        members.get(0).answerLater();
        List<CompletableFuture<Optional<String>>> replies = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            replies.add(write(i));
        }
        assertThat(replies.get(replies.size() - 1)).isNotDone();
        assertThatThrownBy(() -> cache.await(replies.get(replies.size() - 1), 1)).isInstanceOf(RedisException.class);
        members.get(0).answer();
        cache.await(replies.get(replies.size() - 1), 1000);
        assertThat(replies).allSatisfy(each -> assertThat(each).isCompletedWithValue(Optional.empty()));
    }

    @Test
    void allServersAreClosed() {
        cache.close();
        assertThat(members).allSatisfy(each -> assertThat(each.closed).isTrue());
    }

    @Test
    void membersAreAddresses() {
        Properties properties = properties("one:7000, two:7001");
        CacheAsideOptions options = CacheAsideOptions.parse(properties);
        assertThat(options.members()).extracting(VarveOptions::host).containsExactly("one", "two");
        assertThat(options.members()).extracting(VarveOptions::port).containsExactly(7000, 7001);
        CacheAsideOptions second = options.of(options.members().get(1));
        assertThat(second.cache().host()).isEqualTo("two");
        assertThat(second.members()).isEmpty();
        assertThat(CacheAsideOptions.parse(properties("")).members()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"one", "one:", ":7000", "one:0", "one:7000,", "one:7000;two:7001"})
    void otherMembersAreRefused(String value) {
        assertThatThrownBy(() -> CacheAsideOptions.parse(properties(value)))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("varve.members")
                .hasMessageContaining("HOST:PORT");
    }

    private static Properties properties(String members) {
        Properties properties = new Properties();
        properties.setProperty("varve.members", members);
        return properties;
    }
}

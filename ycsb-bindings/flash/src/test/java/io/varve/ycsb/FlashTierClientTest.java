package io.varve.ycsb;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** YCSB's operations on real files. Confined to the test's thread. */
class FlashTierClientTest {
    @TempDir
    Path directory;

    private final FlashTierClient client = new FlashTierClient();

    @BeforeEach
    void open() throws DBException {
        client.setProperties(properties());
        client.init();
    }

    @AfterEach
    void close() throws DBException {
        client.cleanup();
    }

    private Properties properties() {
        Properties properties = new Properties();
        properties.setProperty("varve.flash.dir", directory.resolve("flash").toString());
        properties.setProperty("varve.disk.dir", directory.resolve("disk").toString());
        properties.setProperty("varve.flash.items", "10");
        return properties;
    }

    private static Map<String, ByteIterator> values(String... namesAndValues) {
        Map<String, ByteIterator> values = new HashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            values.put(namesAndValues[i],
                    new ByteArrayByteIterator(namesAndValues[i + 1].getBytes(StandardCharsets.UTF_8)));
        }
        return values;
    }

    private Map<String, String> read(String key, Set<String> fields) {
        Map<String, ByteIterator> result = new HashMap<>();
        assertThat(client.read("t", key, fields, result)).isEqualTo(Status.OK);
        Map<String, String> texts = new HashMap<>();
        result.forEach((name, value) -> texts.put(name, value.toString()));
        return texts;
    }

    @Test
    void anUpdateLeavesOtherFieldsAsTheyAre() {
        assertThat(client.insert("t", "user1", values("a", "1", "b", "2"))).isEqualTo(Status.OK);
        assertThat(client.update("t", "user1", values("b", "3"))).isEqualTo(Status.OK);
        assertThat(read("user1", Set.of("a", "b"))).isEqualTo(Map.of("a", "1", "b", "3"));
        assertThat(read("user1", Set.of("b"))).isEqualTo(Map.of("b", "3"));
    }

    @Test
    @SuppressWarnings("JdkObsolete") // The types are YCSB's.
    void deletedKeyIsNotFound() {
        client.insert("t", "user1", values("a", "1"));
        assertThat(client.delete("t", "user1")).isEqualTo(Status.OK);
        assertThat(client.delete("t", "user1")).isEqualTo(Status.NOT_FOUND);
        assertThat(client.read("t", "user1", Set.of("a"), new HashMap<>())).isEqualTo(Status.NOT_FOUND);
        assertThat(client.scan("t", "user1", 10, Set.of("a"), new Vector<>())).isEqualTo(Status.NOT_IMPLEMENTED);
    }

    @Test
    void clientsShareOneCacheAndTheLastClosesIt() throws DBException {
        FlashTierClient other = new FlashTierClient();
        other.setProperties(properties());
        other.init();
        for (int i = 0; i < 50; i++) {
            assertThat(client.insert("t", "user" + i, values("a", "v" + i))).isEqualTo(Status.OK);
        }
        Map<String, ByteIterator> result = new HashMap<>();
        assertThat(other.read("t", "user7", Set.of("a"), result)).isEqualTo(Status.OK);
        other.cleanup();
        assertThat(read("user8", Set.of("a"))).isEqualTo(Map.of("a", "v8"));
    }

    @Test
    void invalidPropertyIsReportedInOneLine() {
        FlashTierClient wrong = new FlashTierClient();
        Properties properties = properties();
        properties.setProperty("varve.flash.policy", "best");
        wrong.setProperties(properties);
        assertThatThrownBy(wrong::init).isInstanceOf(DBException.class).hasMessageContaining("varve.flash.policy");
        assertThatThrownBy(() -> wrong.insert("t", "k", values("a", "1"))).isInstanceOf(IllegalStateException.class);
        assertThat(client.insert("t", "k", values("a", "1"))).isEqualTo(Status.OK);
    }

    /** YCSB does not clean up a client whose init has failed. */
    @Test
    void aClientThatIsRefusedDoesNotKeepTheCacheOpen() throws DBException {
        FlashTierClient wrong = new FlashTierClient();
        Properties properties = properties();
        properties.setProperty("varve.flash.policy", "best");
        wrong.setProperties(properties);
        assertThatThrownBy(wrong::init).isInstanceOf(DBException.class);
        assertThat(client.insert("t", "user1", values("a", "1"))).isEqualTo(Status.OK);
        client.cleanup();
        FlashTierClient next = new FlashTierClient();
        Properties elsewhere = properties();
        elsewhere.setProperty("varve.flash.dir", directory.resolve("other flash").toString());
        elsewhere.setProperty("varve.disk.dir", directory.resolve("other disk").toString());
        next.setProperties(elsewhere);
        next.init();
        assertThat(next.read("t", "user1", Set.of("a"), new HashMap<>())).as("in another cache")
                .isEqualTo(Status.NOT_FOUND);
        next.cleanup();
    }
}

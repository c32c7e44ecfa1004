package io.varve.consumer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Properties;

import org.junit.jupiter.api.Test;

import io.varve.memory.Cache;
import io.varve.memory.CacheConfig;
import io.varve.memory.CacheSession;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.ycsb.VarveClient;

import site.ycsb.DBException;

/** Uses the memory tier and the YCSB binding as they are published: from a repository, with the POMs that lie there. */
class PublishedArtifactsTest {

    @Test
    void theMemoryTierHoldsWhatIsPutInIt() {
        try (Arena arena = Arena.ofConfined(); Cache cache = Cache.open(CacheConfig.defaults(32L << 20))) {
            MemorySegment name = arena.allocateFrom("varve", StandardCharsets.US_ASCII);
            MemorySegment value = arena.allocateFrom("a layer of sediment", StandardCharsets.US_ASCII);
            CacheSession session = cache.newSession();
            session.now(System.currentTimeMillis());
            Key key = new Key();
            Item item = new Item();
            session.bind(key, 0, name.address(), 5);
            session.lock(key);
            try {
                session.set(key, ItemType.STRING, 0, value.address(), 19, Item.NEVER);
                assertTrue(session.find(key, item));
                assertEquals(19, item.valueLength());
                assertTrue(session.delete(key));
            } finally {
                session.unlock(key);
            }
            assertEquals(0, cache.size(0));
        }
    }

    @Test
    void theBindingIsThereWithAllThatItNeeds() {
        Properties properties = new Properties();
        properties.setProperty("varve.host", "127.0.0.1");
        properties.setProperty("varve.port", "1");
        VarveClient client = new VarveClient();
        client.setProperties(properties);
        // Nobody listens on port 1: it takes Lettuce and Netty to find that out.
        DBException refused = assertThrows(DBException.class, client::init);
        assertTrue(refused.getMessage().contains("varve.port=1"), refused.getMessage());
    }
}

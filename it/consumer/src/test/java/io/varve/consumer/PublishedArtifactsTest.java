package io.varve.consumer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.placement.RingPlacement;
import io.varve.flash.je.JeSettings;
import io.varve.flash.je.JeStore;
import io.varve.flash.store.DurabilityLevel;
import io.varve.flash.store.FlashStore;
import io.varve.memory.Cache;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.CacheSession;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.VarveServer;
import io.varve.server.config.ConfigReader;
import io.varve.server.config.ServerConfig;
import io.varve.ycsb.FlashTierClient;
import io.varve.ycsb.VarveClient;

import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

/** Uses each published module from a repository, with the POM that it has there. Confined to the test's thread. */
class PublishedArtifactsTest {
    @TempDir
    Path folder;

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
    void theFlashTierStoresWhatIsPutInIt() {
        FlashStore store = JeStore.open(folder.resolve("store"), JeSettings.of(1L << 20));
        try {
            byte[] key = {1};
            assertTrue(store.put(key, new byte[]{2}, DurabilityLevel.TO_SYSTEM));
            assertArrayEquals(new byte[]{2}, store.get(key));
        } finally {
            store.close();
        }
    }

    @Test
    void theClusterPlacesASlot() {
        Member member = new Member("a".repeat(40), "127.0.0.1", 7000, 1, null);
        RingPlacement placement = new RingPlacement(RingPlacement.DEFAULT_IDENTIFIERS, 1);
        assertEquals(member, placement.place(List.of(member)).owner(HashSlot.of("user:1")));
    }

    @Test
    void theServerAnswers() throws IOException {
        ServerConfig config = ConfigReader.read(List.of("--port", "0", "--maxmemory", "32mb"));
        try (VarveServer server = VarveServer.start(config);
                Socket client = new Socket("127.0.0.1", server.port())) {
            client.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
            assertEquals("+PONG\r\n", new String(client.getInputStream().readNBytes(7), StandardCharsets.US_ASCII));
        }
    }

    @Test
    void theBindingForTheFlashTierStoresARecord() throws DBException {
        Properties properties = new Properties();
        properties.setProperty("varve.flash.dir", folder.resolve("flash").toString());
        properties.setProperty("varve.disk.dir", folder.resolve("disk").toString());
        properties.setProperty("varve.flash.items", "10");
        properties.setProperty("varve.flash.cache-mb", "1");
        properties.setProperty("varve.disk.cache-mb", "1");
        FlashTierClient client = new FlashTierClient();
        client.setProperties(properties);
        client.init();
        try {
            assertEquals(Status.OK, client.insert("t", "user1", Map.of("f", new StringByteIterator("v"))));
            Map<String, ByteIterator> record = new HashMap<>();
            assertEquals(Status.OK, client.read("t", "user1", null, record));
            assertEquals("v", String.valueOf(record.get("f")));
        } finally {
            client.cleanup();
        }
    }

    @Test
    void theBindingIsThereWithAllThatItNeeds() {
        Properties properties = new Properties();
        properties.setProperty("varve.host", "127.0.0.1");
        properties.setProperty("varve.port", "1");
        VarveClient client = new VarveClient();
        client.setProperties(properties);
        // No server listens on port 1: it takes Lettuce and Netty to find that out.
        DBException refused = assertThrows(DBException.class, client::init);
        assertTrue(refused.getMessage().contains("varve.port=1"), refused.getMessage());
    }
}

package io.varve.server.migration;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.memory.item.Change;
import io.varve.memory.item.ChangeListener;
import io.varve.memory.item.Key;
import io.varve.server.clustering.ClusterState;
import io.varve.server.clustering.ClusterView;
import io.varve.server.clustering.ReplicatedKeys;
import io.varve.server.command.ServerState;
import io.varve.server.keys.HeapKey;
import io.varve.server.keys.KeyHashSlots;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps copies of this member's hot keys at other members, with a {@link CopySender} for each, and deletes the copies
 * of others' keys here once they are not served any more. Confined to its thread, except {@link #wake},
 * {@link #holders} and {@link #close}; a {@link Watch} is immutable.
 *
 * <p>Which members shall have copies follows from the map, so nothing is to be remembered. A key whose slot has moved
 * is forgotten.
 */
final class KeyCopier implements Runnable, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(KeyCopier.class);
    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    private final ServerState server;
    private final ClusterState cluster;
    private final Thread thread;
    private final Object monitor = new Object();
    /** Guarded by the monitor. */
    private boolean isChanged;
    /** By the ID of the holder. Changed by the thread, under the monitor. */
    private final Map<String, CopySender> senders = new HashMap<>();
    private volatile Watch watch = Watch.NOTHING;
    private volatile boolean closing;

    /** Notices the changes of replicated keys. Immutable; any thread calls it, under the lock of a shard. */
    private static final class Watch implements ChangeListener {
        static final Watch NOTHING = new Watch(new BitSet(), Map.of());
        private final BitSet slots;
        private final Map<HeapKey, List<CopySender>> senders;

        Watch(BitSet slots, Map<HeapKey, List<CopySender>> senders) {
            this.slots = slots;
            this.senders = senders;
        }

        @Override
        public void changed(Change change, int shard, long sequence, int database, long keyAddress, int keyLength) {
            if (database == 0 && slots.get(KeyHashSlots.INSTANCE.slot(keyAddress, keyLength))) {
                HeapKey key = HeapKey.of(database, keyAddress, keyLength);
                senders.getOrDefault(key, List.of()).forEach(sender -> sender.changed(key));
            }
        }

        @Override
        public void flushed(int database) {
            senders.forEach((key, all) -> all.forEach(sender -> sender.changed(key)));
        }
    }

    KeyCopier(ServerState server, ClusterState cluster) {
        this.server = server;
        this.cluster = cluster;
        thread = Thread.ofPlatform().daemon().name("varve-hot-key-copies").unstarted(this);
    }

    void start() {
        cluster.replicated().onChange(this::wake);
        cluster.replicated().holders(this::holders);
        cluster.copies().onFirst(this::wake);
        thread.start();
    }

    /** There is another view, or other keys shall have copies. */
    void wake() {
        synchronized (monitor) {
            isChanged = true;
            monitor.notifyAll();
        }
    }

    /** The members that serve copies of a key now, as far as this one knows. */
    private List<Member> holders(HeapKey key) {
        List<String> ids = new ArrayList<>();
        synchronized (monitor) {
            senders.forEach((id, sender) -> {
                if (sender.serves(key)) {
                    ids.add(id);
                }
            });
        }
        return cluster.view().map().members().stream().filter(member -> ids.contains(member.id())).toList();
    }

    @Override
    public void run() {
        try (KeyDeleter deleter = new KeyDeleter(server)) {
            while (!closing) {
                awaitWork();
                update();
                deleteStale(deleter);
            }
        } catch (InterruptedException closed) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error bug) {
            LOG.error("Hot keys have no copies until the next start", bug);
        } finally {
            // Nobody notices changes any more, so no lease may be renewed.
            List<CopySender> open;
            synchronized (monitor) {
                open = List.copyOf(senders.values());
                senders.clear();
            }
            open.forEach(CopySender::close);
            server.cache().unsubscribe(watch);
        }
    }

    private void awaitWork() throws InterruptedException {
        long begun = server.ticker().nanoTime();
        synchronized (monitor) {
            boolean isBusy = !senders.isEmpty() || cluster.copies().count() > 0;
            while (!isChanged && !closing && (!isBusy || server.ticker().nanoTime() - begun < TICK_NANOS)) {
                monitor.wait(isBusy ? TimeUnit.NANOSECONDS.toMillis(TICK_NANOS) : 0);
            }
            isChanged = false;
        }
    }

    private void update() {
        // First: a key is registered by a member that owns its slot then.
        Set<HeapKey> registered = Set.copyOf(cluster.replicated().all().keySet());
        ClusterView view = cluster.view();
        registered.forEach(key -> {
            if (!view.me().isPrimary() || !view.isMe(view.owner(HashSlot.of(key.bytes())))) {
                cluster.replicated().remove(key);
            }
        });
        Map<HeapKey, Integer> keys = cluster.replicated().all();
        Map<String, Set<HeapKey>> assigned = new HashMap<>();
        keys.forEach((key, count) -> ReplicatedKeys.choose(view, key, count)
                .forEach(member -> assigned.computeIfAbsent(member.id(), _ -> new HashSet<>()).add(key)));
        assigned.keySet().forEach(this::open);
        watch(assigned);
        senders.forEach((id, sender) -> {
            sender.assign(assigned.getOrDefault(id, Set.of()));
            sender.tick();
        });
        closeIdle();
    }

    private void open(String id) {
        CopySender known = senders.get(id);
        if (known == null || known.hasEnded()) {
            CopySender sender = new CopySender(server, cluster, id);
            synchronized (monitor) {
                senders.put(id, sender);
            }
            sender.start();
        }
    }

    /**
     * Listens to other keys. A key is assigned to its senders afterwards and then copied under the lock of its shard,
     * so a change that nobody has noticed is in the copy.
     */
    private void watch(Map<String, Set<HeapKey>> assigned) {
        Map<HeapKey, List<CopySender>> byKey = new HashMap<>();
        BitSet slots = new BitSet();
        assigned.forEach((id, keys) -> keys.forEach(key -> {
            byKey.computeIfAbsent(key, _ -> new ArrayList<>()).add(senders.get(id));
            slots.set(HashSlot.of(key.bytes()));
        }));
        Watch before = watch;
        if (byKey.equals(before.senders)) {
            return;
        }
        Watch next = byKey.isEmpty() ? Watch.NOTHING : new Watch(slots, byKey);
        if (next != Watch.NOTHING) {
            server.cache().subscribe(next);
        }
        watch = next;
        cluster.awaitOlderCommands();
        if (before != Watch.NOTHING) {
            server.cache().unsubscribe(before);
        }
    }

    private void closeIdle() {
        List<CopySender> idle = new ArrayList<>();
        synchronized (monitor) {
            senders.values().removeIf(sender -> {
                boolean ends = sender.isIdle() || sender.hasEnded();
                if (ends) {
                    idle.add(sender);
                }
                return ends;
            });
        }
        idle.forEach(CopySender::close);
    }

    private void deleteStale(KeyDeleter deleter) {
        List<HeapKey> stale = cluster.copies().stale();
        for (HeapKey key : stale) {
            deleter.delete(key.bytes(), locked -> mayDelete(key, locked));
        }
        if (!stale.isEmpty()) {
            deleter.flush();
        }
    }

    /**
     * Forgets a copy that is not served any more. In a slot of this member, in one that it imports, and at a replica,
     * the key may be more than a copy, and stays. The shard is locked.
     */
    private boolean mayDelete(HeapKey name, Key key) {
        ClusterView view = cluster.view();
        // Also in a slot that nobody owns: it may be given to this member later.
        return view.isLeased() && cluster.copies().forget(name) && !SlotCleaner.isUsed(view, key.slot())
                && !server.role().isReplica();
    }

    @Override
    public void close() {
        List<CopySender> open;
        synchronized (monitor) {
            closing = true;
            open = List.copyOf(senders.values());
            monitor.notifyAll();
        }
        open.forEach(CopySender::close);
        thread.interrupt();
        try {
            thread.join();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}

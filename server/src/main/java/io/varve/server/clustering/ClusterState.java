package io.varve.server.clustering;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.server.config.ConfigException;
import io.varve.server.config.ServerConfig;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The holder of the {@link ClusterView} of this server. Changes are guarded by its own monitor; any thread reads the
 * view, which is replaced as a whole.
 *
 * <p>A controller, if there is one, {@linkplain #install installs} each new map and renews the lease. Without
 * controllers, the CLUSTER commands {@linkplain #change change} this member's own view, as in Redis Cluster, but no
 * other member hears of it.
 */
public final class ClusterState implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ClusterState.class);

    private final NodesFile file;
    private final boolean controlled;
    private String listeningHost;
    private int listeningPort;
    private final List<ClusterListener> listeners = new CopyOnWriteArrayList<>();
    private final SlotHolds holds = new SlotHolds();
    private final SlotImports imports = new SlotImports();
    private final MigrationCounters migrations = new MigrationCounters();
    private final ReplicatedKeys replicated = new ReplicatedKeys();
    private final KeyCopies copies;
    private volatile ClusterView view;
    /** A value of {@link System#nanoTime}; only the controllers' link and tests change it. */
    private volatile long leaseUntilNanos = System.nanoTime();
    private volatile LongSupplier generation = () -> 0;
    private volatile @Nullable Handover handover;
    private volatile @Nullable ManualFailover manualFailover;
    private volatile Runnable onPrimaryLost = () -> {};
    private volatile boolean keepsRole;

    private ClusterState(NodesFile file, boolean controlled, ClusterView view, LongSupplier clock) {
        copies = new KeyCopies(clock);
        this.file = file;
        this.controlled = controlled;
        this.view = view;
        listeningHost = view.me().host();
        listeningPort = view.me().port();
    }

    /**
     * Opens the state of a member, and draws its ID if it has none yet. With {@code cluster-controllers}, the member
     * serves nothing until it has a lease.
     *
     * @param clock nanoseconds that pass at a steady rate, for copies of other members' keys
     * @return null if the server is no member of a cluster
     * @throws ConfigException if the file cannot be read or written, or another server uses it
     */
    public static @Nullable ClusterState open(ServerConfig config, LongSupplier clock) {
        if (!config.bool("cluster-enabled")) {
            return null;
        }
        boolean controlled = !config.text("cluster-controllers").isEmpty();
        String name = config.text("cluster-config-file");
        NodesFile file = new NodesFile(Path.of(config.text("dir")).resolve(name));
        try {
            return new ClusterState(file, controlled, file.open(ClusterOptions.of(config), !controlled), clock);
        } catch (IOException failed) {
            throw ConfigException.about("cluster-config-file", "cluster-config-file " + name + ": " + failed);
        }
    }

    public ClusterView view() {
        return view;
    }

    /** Whether controllers own the map, so that commands cannot change it. */
    public boolean isControlled() {
        return controlled;
    }

    /** Adds what follows the changes. */
    public void listener(ClusterListener added) {
        listeners.add(added);
    }

    /** The slots whose commands wait. */
    public SlotHolds holds() {
        return holds;
    }

    /** Which connections may store keys in importing slots. */
    public SlotImports imports() {
        return imports;
    }

    /** The figures of migrations. */
    public MigrationCounters migrations() {
        return migrations;
    }

    /** The keys of this member that others keep copies of. */
    public ReplicatedKeys replicated() {
        return replicated;
    }

    /** The copies of others' keys that this member keeps. */
    public KeyCopies copies() {
        return copies;
    }

    /** Sets how this member asks the controllers to end migrations. Without it, no slot moves. */
    public void handover(Handover value) {
        handover = value;
    }

    /** How this member asks the controllers to end migrations; null: it cannot yet. */
    public @Nullable Handover handover() {
        return handover;
    }

    /** Sets how this member changes roles with a replica or its primary. */
    public void manualFailover(ManualFailover value) {
        manualFailover = value;
    }

    /** How this member changes roles with a replica or its primary; null: it has no controllers. */
    public @Nullable ManualFailover manualFailover() {
        return manualFailover;
    }

    /** Sets what runs when the connection to the primary is lost: its thread must not wait. */
    public void onPrimaryLost(Runnable action) {
        onPrimaryLost = action;
    }

    /** The connection to the primary is lost: there may be another one. */
    public void primaryLost() {
        onPrimaryLost.run();
    }

    /** This member stops without handing over its role. */
    public void keepRole() {
        keepsRole = true;
    }

    /** See {@link #keepRole}. */
    public boolean keepsRole() {
        return keepsRole;
    }

    /** Sets what names this process for the controllers. */
    public void generation(LongSupplier value) {
        generation = value;
    }

    /** The generation of this process, from its registration; 0: it has not registered. */
    public long generation() {
        return generation.getAsLong();
    }

    /** Lines for CLUSTER INFO, each with its end. Only of members with controllers. */
    public String controlledLines() {
        ClusterView now = view;
        return controlled
                ? "cluster_my_generation:" + generation() + "\r\ncluster_slots_migrating:" + now.migrating().size()
                        + "\r\ncluster_slots_importing:" + now.importing().size() + "\r\n" + migrations.lines()
                        + "cluster_replicated_keys:" + replicated.count() + "\r\ncluster_copies_sent:"
                        + replicated.sentCount() + "\r\ncluster_copies_held:" + copies.count() + "\r\n"
                : "";
    }

    /**
     * Sets where this server listens.
     *
     * @param bind the setting: the first address is announced, unless it stands for all
     */
    public synchronized void listening(String bind, int port) {
        String first = bind.strip().split("\\s+")[0];
        String host = first.startsWith("-") ? first.substring(1) : first;
        boolean known = !host.isEmpty() && !host.equals("*") && !host.equals("::") && !host.equals("0.0.0.0");
        listeningHost = NodesText.hostOf(known ? host : "");
        listeningPort = port;
        announce(view.options());
    }

    private void announce(ClusterOptions options) {
        ClusterView now = view.withOptions(options);
        if (!controlled) {
            Member me = now.me();
            LocalView local = new LocalView(now);
            local.member(new Member(me.id(), announcedHost(options), announcedPort(options), me.weight(),
                    me.primaryId()));
            now = local.build();
        }
        set(now);
    }

    private String announcedHost(ClusterOptions options) {
        return options.announcedHost().isEmpty() ? listeningHost : options.announcedHost();
    }

    private int announcedPort(ClusterOptions options) {
        return options.announcedPort() == 0 ? listeningPort : options.announcedPort();
    }

    /**
     * This member as it registers with the controllers: a primary without slots.
     *
     * @param host what others connect to if this server listens on all addresses and announces none
     */
    public synchronized Member registration(Supplier<String> host) {
        ClusterOptions options = view.options();
        String announced = announcedHost(options);
        return new Member(view.me().id(), NodesText.isAnyHost(announced) ? host.get() : announced,
                announcedPort(options), 1, null);
    }

    /** Applies changed settings. */
    public synchronized void options(ClusterOptions options) {
        announce(options);
    }

    /** As {@link #install(SlotMap)}, with a lease that does not end, or with none. */
    public void install(SlotMap map, boolean leased) {
        install(map, end(leased));
        saveView();
    }

    /**
     * Replaces the map, unless a newer one is there. When it returns, no command runs that began under an older one.
     * The calling thread holds no shard. The lease stays. {@link #saveView} puts the map on disk.
     */
    public void install(SlotMap map) {
        install(map, leaseUntilNanos);
    }

    private static long end(boolean leased) {
        return System.nanoTime() + (leased ? Long.MAX_VALUE / 2 : 0);
    }

    private void install(SlotMap map, long untilNanos) {
        synchronized (this) {
            if (map.epoch() < view.map().epoch()) {
                return;
            }
            leaseUntilNanos = untilNanos;
            ClusterView before = view;
            view = ClusterView.of(before.me(), map, holds(untilNanos), before.options());
            imports.retain(view.importing().keySet());
            tell(before);
        }
        awaitOlderCommands();
    }

    /** As {@link #lease(long)}, without an end, or with the end now. */
    public void lease(boolean leased) {
        lease(end(leased));
    }

    /**
     * Grants, extends or ends the lease of this member. If it has ended, no command runs that began before when this
     * returns.
     *
     * @param untilNanos a value of {@link System#nanoTime}
     */
    public void lease(long untilNanos) {
        synchronized (this) {
            leaseUntilNanos = untilNanos;
            boolean leased = holds(untilNanos);
            if (view.isLeased() == leased) {
                return;
            }
            ClusterView before = view;
            view = before.withLease(leased);
            tell(before);
        }
        awaitOlderCommands();
    }

    private static boolean holds(long untilNanos) {
        return System.nanoTime() - untilNanos < 0;
    }

    /**
     * Whether this member may serve at this moment, also if no thread has had the time to {@linkplain #lease end} its
     * lease. Always true without controllers.
     */
    public boolean hasLease() {
        return !controlled || holds(leaseUntilNanos);
    }

    /** Waits until no command runs that began under an older view. The calling thread holds no shard. */
    public void awaitOlderCommands() {
        listeners.forEach(ClusterListener::awaitOlderCommands);
    }

    /** Changes this member's own view. */
    public synchronized void change(LocalChange change) {
        LocalView local = new LocalView(view);
        change.apply(local);
        set(local.build());
    }

    /**
     * Saves the view again.
     *
     * @throws IOException if the file cannot be written
     */
    public void save() throws IOException {
        synchronized (file) {
            file.write(view);
        }
    }

    /** Saves the view, unless that fails: then an error is logged. */
    public void saveView() {
        ClusterView now = view;
        synchronized (file) {
            write(now);
        }
    }

    private void set(ClusterView now) {
        ClusterView before = view;
        view = now;
        imports.retain(now.importing().keySet());
        // First, because commands may wait for it, and the disk takes its time.
        tell(before);
        synchronized (file) {
            write(now);
        }
    }

    private void write(ClusterView now) {
        try {
            file.write(now);
        } catch (IOException failed) {
            LOG.error("{} cannot be written: after a restart this member may know an older cluster", file, failed);
        }
    }

    private void tell(ClusterView before) {
        ClusterView now = view;
        listeners.forEach(told -> told.changed(before, now));
    }

    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** A change of a member's own view. */
    @FunctionalInterface
    public interface LocalChange {
        void apply(LocalView local);
    }

    /** A view under change. Confined to one thread. */
    public static final class LocalView {
        private final ClusterView from;
        private final SlotMap.Builder map;
        private final Map<Integer, Member> migrating;
        private final Map<Integer, Member> importing;
        private Member me;
        private long epoch;

        private LocalView(ClusterView from) {
            this.from = from;
            me = from.me();
            epoch = from.map().epoch();
            map = from.map().toBuilder();
            // The migrations of this member are kept beside the map, because a member may import a slot from any other.
            from.map().migrations().keySet().forEach(slot -> map.target(slot, null));
            map.member(me);
            migrating = new HashMap<>(from.migrating());
            importing = new HashMap<>(from.importing());
        }

        /** Adds a member, or replaces the one with its ID. */
        public void member(Member member) {
            map.member(member);
            if (member.id().equals(me.id())) {
                me = member;
            }
        }

        /** Gives a slot to a primary; null: to no one. */
        public void owner(int slot, @Nullable String id) {
            map.owner(slot, id);
        }

        /** Gives a slot to this member, which no longer imports it. */
        public void own(int slot) {
            map.owner(slot, me.id());
            importing.remove(slot);
        }

        /** Begins to move a slot to another member; null: no longer. */
        public void migrate(int slot, @Nullable Member target) {
            put(migrating, slot, target);
        }

        /** Begins to receive a slot from another member; null: no longer. */
        public void importFrom(int slot, @Nullable Member source) {
            put(importing, slot, source);
        }

        private static void put(Map<Integer, Member> moves, int slot, @Nullable Member other) {
            if (other == null) {
                moves.remove(slot);
            } else {
                moves.put(slot, other);
            }
        }

        public void epoch(long value) {
            epoch = value;
        }

        /** Forgets all other members and all slots. */
        public void reset(String id) {
            for (int slot = 0; slot < HashSlot.COUNT; slot++) {
                map.owner(slot, null);
            }
            from.members().forEach(member -> map.remove(member.id()));
            migrating.clear();
            importing.clear();
            me = new Member(id, me.host(), me.port(), me.weight(), null);
            map.member(me);
        }

        private ClusterView build() {
            return new ClusterView(me, map.build(epoch), migrating, importing, from.isLeased(), from.options());
        }
    }
}

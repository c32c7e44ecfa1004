package io.varve.flash.mvstore;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;

import io.varve.flash.store.AheadWalk;

/** Reads from the map that has no values. Confined to one thread at a time. */
final class MvWalk extends AheadWalk {
    private final MvStore store;

    MvWalk(MvStore store) {
        this.store = store;
    }

    @Override
    protected Collection<byte[]> read(byte[] first, int most) {
        return store.call("walk", opened -> {
            List<byte[]> keys = new ArrayList<>(most);
            Iterator<byte[]> all = opened.keys().keyIterator(first);
            while (all.hasNext() && keys.size() < most) {
                keys.add(all.next());
            }
            return keys;
        });
    }
}

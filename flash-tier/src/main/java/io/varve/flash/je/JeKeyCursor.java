package io.varve.flash.je;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

import com.sleepycat.je.Cursor;
import com.sleepycat.je.CursorConfig;
import com.sleepycat.je.DatabaseEntry;
import com.sleepycat.je.LockMode;
import com.sleepycat.je.OperationStatus;
import io.varve.flash.store.PrefetchingCursor;

/** A key cursor over a JE database that reads neither values nor locks. Confined to one thread at a time. */
final class JeKeyCursor extends PrefetchingCursor {
    private final JeStore store;

    JeKeyCursor(JeStore store) {
        this.store = store;
    }

    @Override
    protected Collection<byte[]> read(byte[] first, int max) {
        return store.call("walk", opened -> {
            List<byte[]> keys = new ArrayList<>(max);
            DatabaseEntry found = new DatabaseEntry(first);
            DatabaseEntry nothing = new DatabaseEntry();
            nothing.setPartial(0, 0, true);
            try (Cursor cursor = opened.database().openCursor(null, CursorConfig.READ_UNCOMMITTED)) {
                OperationStatus status = cursor.getSearchKeyRange(found, nothing, LockMode.READ_UNCOMMITTED);
                while (status == OperationStatus.SUCCESS && keys.size() < max) {
                    keys.add(found.getData());
                    status = cursor.getNext(found, nothing, LockMode.READ_UNCOMMITTED);
                }
            }
            return keys;
        });
    }
}

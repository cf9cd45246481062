# The footer of a buren file, format version 1. crates/buren/SPEC.md tells what the fields mean and which are checked
# against what; this file only tells where they lie.

@0xc9f5b2c4a1e07d38;

struct Footer {
  rows @0 :UInt64;
  # Rows of the table: the sum of the row groups'.

  rowsPerBlock @1 :UInt32;
  # Every block of a column chunk but its last holds the values of this many rows. A multiple of 1024.

  compression @2 :UInt8;
  # What compressed blocks are compressed with: 0 none, 1 snappy, 2 lz4, 3 gzip, 4 zlib, 5 zstd.

  columns @3 :List(Column);
  # In the order of the schema.

  rowGroups @4 :List(RowGroup);
  # In the order of the rows.
}

struct Column {
  name @0 :Text;

  union {
    string :group {
      values @1 :UInt32;
      # Distinct values in the file.

      dictionary @2 :List(DictionaryBlock);
      # The distinct values in byte order.
    }
    decimal :group {
      scale @3 :UInt8;
    }
  }
}

struct DictionaryBlock {
  values @0 :UInt32;
  block @1 :Block;
}

struct RowGroup {
  rows @0 :UInt32;

  order :union {
    original @1 :Void;
    # Rows lie in their original order.

    clustered :group {
      # Rows are stably partitioned by a string column, whose own chunk is the order stream.
      key @2 :UInt32;
      runIndex @3 :Block;
    }
  }

  chunks @4 :List(Chunk);
  # One for each column.
}

struct Chunk {
  scheme @0 :UInt16;
  # 0 constant, 1 plain, 2 packed, 3 run-packed.

  width @1 :UInt8;
  # Bits a value, as the scheme has it.

  nulls @2 :UInt64;
  # Always 0 in version 1.

  blocks @3 :List(Block);

  union {
    string :group {
      cardinality @4 :UInt32;
      # Distinct values in this chunk: its codes are 0 to cardinality - 1.

      map @5 :Block;
      # The code in the file's dictionary of each code of this chunk.
    }
    decimal :group {
      min @6 :Int64;
      max @7 :Int64;
      sumLow @8 :UInt64;
      sumHigh @9 :Int64;
      # The sum is sumHigh * 2^64 + sumLow.
    }
  }
}

struct Block {
  stored @0 :UInt32;
  # Bytes in the file.

  length @1 :UInt32;
  # Bytes when decompressed. The block is compressed if and only if it is longer than `stored`.

  checksum @2 :UInt32;
  # CRC-32C of the stored bytes.
}

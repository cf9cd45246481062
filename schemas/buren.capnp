# The footer of a buren file, format version 1. crates/buren/SPEC.md tells what the fields mean and which are checked
# against what; this file only tells where they lie.

@0xe2a90b6d41c7f835;

struct Footer {
  rows @0 :UInt64;
  # Rows of the table: the sum of the row groups'.

  compression @1 :UInt8;
  # What compressed blocks are compressed with: 0 none, 1 snappy, 2 lz4, 3 gzip, 4 zlib, 5 zstd.

  columns @2 :List(Column);
  # In the order of the schema.

  rowGroups @3 :List(RowGroup);
  # In the order of the rows.

  unused @4 :List(Unused);
  # Bytes that are no longer part of the table.

  metadata @5 :List(Entry);
  # What the writer's user wanted to keep with the table.
}

struct Column {
  name @0 :Text;

  type @1 :Text;
  # Such as "int32", "decimal(12,2)" or "timestamp(ms) with zone".

  nullable @2 :Bool;

  dictionary @3 :List(DictionaryPart);
  # What the codes of layout 5 stand for: the values of all parts one behind the other.

  counts @4 :Chunk;
  # How often each value of the dictionary occurs in the column: integers without nulls, in the order of the codes. None if
  # that is not known.
}

struct DictionaryPart {
  offset @0 :UInt64;
  # Where its first block starts in the file; the others lie behind it: the tokens, then the blocks of values.

  tokens @1 :Block;
  # Those of this part and of the parts behind it, until one has tokens of its own. None if the part has the tokens of
  # the one before it.

  blocks @2 :List(Block);
}

struct Entry {
  key @0 :Text;
  value @1 :Data;
}

struct Unused {
  offset @0 :UInt64;
  bytes @1 :UInt64;

  checksum @2 :UInt32;
  # CRC-32C of the bytes.
}

struct RowGroup {
  rows @0 :UInt32;

  chunks @1 :List(Chunk);
  # One for each column; if there is a key, the order stream and the lengths of runs after them.

  key @2 :UInt32;
  # The position of the cluster key plus one; 0 if rows lie in their original order.

  runs @3 :UInt32;
  # How many runs there are; 0 if there is no key.
}

struct Chunk {
  offset @0 :UInt64;
  # Where its first block starts in the file; the others lie behind it: the parameters, the tokens, the dictionary's
  # blocks, the run index, then for each block of rows its validity and its values.

  layout @1 :UInt8;
  # 0 integers, 1 integers of 128 bits, 2 floats, 3 strings, 4 codes of the chunk's dictionary, 5 of the column's,
  # 6 integers less the smallest of their run.

  scheme @2 :UInt8;
  # Of integers and codes.

  nulls @3 :UInt32;

  parameters @4 :Block;
  # Of integers, floats and codes.

  tokens @5 :Block;
  # Of strings, or of the dictionary.

  dictionary @6 :List(Block);
  # What codes stand for: the distinct values in byte order.

  blocks @7 :List(Block);
  # The values of each block of rows. Each but the last one has 65,536 rows.

  validity @12 :List(Block);
  # Of each block of rows, that of a block without nulls is empty; none if no block has nulls.

  bounds @8 :Bounds;

  smallest @13 :List(Int64);
  largest @14 :List(Int64);
  # The bounds of each block of rows, if there are several, and their bounds are integers of 64 bits. A block whose smallest
  # value is larger than the largest one has no bounds.

  boundsOfBlocks @15 :List(Bounds);
  # The same of all other values. None, as those above, if they are not known.

  sum @9 :Data;
  # A signed integer, lowest byte first. None if it is not known.

  codes @10 :UInt32;
  # With layout 5, all codes are below it; else 0.

  runIndex @11 :Block;
  # The statistics of each run; none if they are not stored.
}

struct Bounds {
  min @0 :Data;
  max @1 :Data;
  # None of both if they are not known, or if all rows are null.
}

struct Block {
  stored @0 :UInt32;
  # Bytes in the file.

  length @1 :UInt32;
  # Bytes when decompressed. The block is compressed if and only if it is longer than `stored`.

  checksum @2 :UInt32;
  # CRC-32C of the stored bytes.

  nulls @3 :UInt32;
  # How many values are null; only of values of a block of rows.

  values @4 :UInt32;
  # How many values there are; only of blocks of a dictionary.
}

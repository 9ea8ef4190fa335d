! faro in Fortran: permutations of arrays at the speed of a copy.
!
!     use faro
!     real :: a(1000, 2000, 3), b(3, 1000, 2000)
!     call faro_permute_dims(a, [3, 1, 2], b)              ! b(k, i, j) = a(i, j, k)
!
!     type(faro_plan) :: plan
!     complex(8) :: x(2**20), y(2**20)
!     call plan%make("bit_reversal(20)", x)                ! planned once, run often
!     call plan%run(x, y)
!
! Arrays are passed by descriptor, of any type and rank, and taken as they lie: nothing is copied on the way. faro_permute_dims
! takes sections, too, with strides of both signs. Dimensions and rows count from 1. A text sees the array in C's order of axes,
! the last dimension first, since that is how its memory lies: 'transpose(3, 5)' is for a(5, 3).
!
! Errors: with `stat` present it is 0, or one of faro.h's numbers, and `errmsg` has the line that says why; without it the
! program stops with that line. Nothing is written then.
!
! Built with faro_descriptors.c, and linked with libfaro (docs/guide/bindings.md).
module faro
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_f_pointer, c_int, c_null_char, c_null_ptr, c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  private
  public :: faro_permute_dims, faro_take, faro_plan, faro_version

  !> A text of a permutation, planned for arrays of one shape and type.
  type :: faro_plan
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: make
    procedure :: run
    procedure :: run_in_place
    procedure :: explain
    final :: destroy
  end type faro_plan

  interface
    function c_permute_dims(a, order, orders, b, threads) bind(c, name="faro_fortran_permute_dims") result(status)
      import :: c_char, c_int, c_size_t
      type(*), intent(in) :: a(..)
      integer(c_int), intent(in) :: order(*)
      integer(c_int), value :: orders
      type(*), intent(inout) :: b(..)
      integer(c_int), value :: threads
      integer(c_int) :: status
    end function c_permute_dims

    function c_take(a, rows, b, threads) bind(c, name="faro_fortran_take") result(status)
      import :: c_char, c_int, c_size_t
      type(*), intent(in) :: a(..)
      type(*), intent(in) :: rows(..)
      type(*), intent(inout) :: b(..)
      integer(c_int), value :: threads
      integer(c_int) :: status
    end function c_take

    function c_plan(text, like, in_place, threads, plan) bind(c, name="faro_fortran_plan") result(status)
      import :: c_char, c_int, c_ptr, c_size_t
      character(kind=c_char), intent(in) :: text(*)
      type(*), intent(in) :: like(..)
      integer(c_int), value :: in_place, threads
      type(c_ptr), intent(inout) :: plan
      integer(c_int) :: status
    end function c_plan

    function c_run(plan, a, b) bind(c, name="faro_fortran_run") result(status)
      import :: c_char, c_int, c_ptr, c_size_t
      type(c_ptr), value :: plan
      type(*), intent(in) :: a(..)
      type(*), intent(inout) :: b(..)
      integer(c_int) :: status
    end function c_run

    function c_run_in_place(plan, a) bind(c, name="faro_fortran_run_in_place") result(status)
      import :: c_char, c_int, c_ptr, c_size_t
      type(c_ptr), value :: plan
      type(*), intent(inout) :: a(..)
      integer(c_int) :: status
    end function c_run_in_place

    function c_explain(plan, text) bind(c, name="faro_fortran_explain") result(status)
      import :: c_char, c_int, c_ptr, c_size_t
      type(c_ptr), value :: plan
      type(c_ptr), intent(out) :: text
      integer(c_int) :: status
    end function c_explain

    subroutine c_destroy(plan) bind(c, name="faro_plan_destroy")
      import :: c_ptr
      type(c_ptr), value :: plan
    end subroutine c_destroy

    subroutine c_free(memory) bind(c, name="faro_free")
      import :: c_ptr
      type(c_ptr), value :: memory
    end subroutine c_free

    function c_message() bind(c, name="faro_fortran_message") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function c_message

    function c_version() bind(c, name="faro_version") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function c_version

    pure function c_strlen(text) bind(c, name="strlen") result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value, intent(in) :: text
      integer(c_size_t) :: length
    end function c_strlen
  end interface

contains

  !> b(i_order(1), i_order(2), ..) = a(i_1, i_2, ..): shape(b) is shape(a) in that order. a and b are arrays of any one type,
  !> sections among them, that do not overlap. `threads`: as many as OpenMP would use where it is absent.
  subroutine faro_permute_dims(a, order, b, threads, stat, errmsg)
    type(*), intent(in) :: a(..)
    integer, intent(in) :: order(:)
    type(*), intent(inout) :: b(..)
    integer, intent(in), optional :: threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call finish(c_permute_dims(a, int(order, c_int), size(order), b, given(threads)), stat, errmsg)
  end subroutine faro_permute_dims

  !> b(.., i) = a(.., rows(i)), of contiguous arrays; rows are integers of 4 or 8 bytes and count from 1.
  subroutine faro_take(a, rows, b, threads, stat, errmsg)
    type(*), intent(in) :: a(..)
    type(*), intent(in) :: rows(..)
    type(*), intent(inout) :: b(..)
    integer, intent(in), optional :: threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call finish(c_take(a, rows, b, given(threads)), stat, errmsg)
  end subroutine faro_take

  !> The permutation `text` (docs/guide/maps.md) of arrays of the shape and type of `like`, which is not read.
  subroutine make(this, text, like, in_place, threads, stat, errmsg)
    class(faro_plan), intent(inout) :: this
    character(*), intent(in) :: text
    type(*), intent(in) :: like(..)
    logical, intent(in), optional :: in_place
    integer, intent(in), optional :: threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: inside

    inside = 0
    if (present(in_place)) inside = merge(1, 0, in_place)
    call c_destroy(this%handle)
    this%handle = c_null_ptr
    call finish(c_plan(to_c(text), like, inside, given(threads), this%handle), stat, errmsg)
  end subroutine make

  !> From a to b, both contiguous.
  subroutine run(this, a, b, stat, errmsg)
    class(faro_plan), intent(in) :: this
    type(*), intent(in) :: a(..)
    type(*), intent(inout) :: b(..)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call finish(c_run(this%handle, a, b), stat, errmsg)
  end subroutine run

  !> Where the array is, of a plan that was made with in_place.
  subroutine run_in_place(this, a, stat, errmsg)
    class(faro_plan), intent(in) :: this
    type(*), intent(inout) :: a(..)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call finish(c_run_in_place(this%handle, a), stat, errmsg)
  end subroutine run_in_place

  !> What the plan does, in words.
  function explain(this) result(text)
    class(faro_plan), intent(in) :: this
    character(:), allocatable :: text
    type(c_ptr) :: found

    call finish(c_explain(this%handle, found))
    text = from_c(found)
    call c_free(found)
  end function explain

  function faro_version() result(text)
    character(:), allocatable :: text
    text = from_c(c_version())
  end function faro_version

  subroutine destroy(this)
    type(faro_plan), intent(inout) :: this
    call c_destroy(this%handle)
    this%handle = c_null_ptr
  end subroutine destroy

  pure function given(threads) result(count)
    integer, intent(in), optional :: threads
    integer(c_int) :: count
    count = 0
    if (present(threads)) count = int(threads, c_int)
  end function given

  subroutine finish(found, stat, errmsg)
    integer(c_int), intent(in) :: found
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    if (present(stat)) stat = found
    if (found == 0) return
    if (present(errmsg)) errmsg = from_c(c_message())
    if (present(stat)) return
    write (error_unit, "(a)") from_c(c_message())
    error stop 1
  end subroutine finish

  pure function to_c(text) result(characters)
    character(*), intent(in) :: text
    character(kind=c_char) :: characters(len(text) + 1)
    integer :: i
    do i = 1, len(text)
      characters(i) = text(i:i)
    end do
    characters(len(text) + 1) = c_null_char
  end function to_c

  function from_c(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(:), allocatable :: text
    character(kind=c_char), pointer :: characters(:)
    integer :: i

    allocate (character(c_strlen(pointer)) :: text)
    call c_f_pointer(pointer, characters, [len(text)])
    do i = 1, len(text)
      text(i:i) = characters(i)
    end do
  end function from_c
end module faro
